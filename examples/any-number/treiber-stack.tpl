// Treiber's stack (1986) with a pool of two nodes: any number of threads push, one pops and gives nodes back.
// expect: robust ra=yes rc20=yes tso=yes
max_value 2;
global head, busy[3], next[3];
na value[3];

fn pusher[*] {
    local n, h, r;
    while (1) {
        oneof ({ n = 1; }{ n = 2; });
        BCAS(busy[n], 0, 1, acq, rlx);
        value[n].nastore(n);
        do {
            h = head.load(rlx);
            next[n].store(h, rlx);
            r = CAS(head, h, n, rlx, rel);
        } while (r != h);
    }
}

fn popper {
    local h, n, r, v;
    while (1) {
        h = wait(head, 1, 2, acq);
        n = next[h].load(rlx);
        r = CAS(head, h, n, acq, rlx);
        if (r == h) {
            v = value[h].naload();
            assert(v == h);
            busy[h].store(0, rel);
        }
    }
}
