// Treiber's stack (1986) with a pool of two nodes, where any number of threads push and pop. A node can be
// popped, given back and pushed again between the load and the CAS of another thread that pops.
// expect: robust ra=no rc20=no tso=no
max_value 2;
global head, busy[3], next[3];
na value[3];

fn worker[*] {
    local n, h, r, v;
    while (1) {
        oneof ({
            oneof ({ n = 1; }{ n = 2; });
            BCAS(busy[n], 0, 1, acq, rlx);
            value[n].nastore(n);
            do {
                h = head.load(acq);
                next[n].store(h, rlx);
                r = CAS(head, h, n, rlx, rel);
            } while (r != h);
        }{
            h = wait(head, 1, 2, acq);
            n = next[h].load(rlx);
            r = CAS(head, h, n, acq, rlx);
            if (r == h) {
                v = value[h].naload();
                busy[h].store(0, rel);
            }
        });
    }
}
