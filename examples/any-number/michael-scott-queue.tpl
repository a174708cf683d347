// The queue of Michael and Scott (1996) with a pool of three nodes, of which the first is there at the start:
// any number of threads put an element in, and any number take one out. No node is used twice.
// expect: robust ra=yes rc20=yes tso=yes
max_value 2;
global head, tail, busy[3], next[3];
na value[3];

fn producer[*] {
    local n, t, x, r;
    oneof ({ n = 1; }{ n = 2; });
    BCAS(busy[n], 0, 1, acq, rlx);
    value[n].nastore(n);
    r = 1;
    while (r != 0) {
        t = tail.load(acq);
        x = next[t].load(acq);
        if (x == 0) {
            r = CAS(next[t], 0, n, acq, rel);
            if (r == 0) {
                CAS(tail, t, n, acq, rel);
            }
        } else {
            CAS(tail, t, x, acq, rel);
        }
    }
}

fn consumer[*] {
    local h, t, x, r, v;
    h = head.load(acq);
    t = tail.load(acq);
    x = next[h].load(acq);
    if (x != 0) {
        if (h == t) {
            CAS(tail, t, x, acq, rel);
        } else {
            r = CAS(head, h, x, acq, rel);
            if (r == h) {
                v = value[x].naload();
                assert(v == x);
            }
        }
    }
}
