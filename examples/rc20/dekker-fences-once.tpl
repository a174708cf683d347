// The core of Dekker's mutual exclusion (Dijkstra 1965) with SC fences: at most one thread enters.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=no
// expect: assertion sc=no
max_value 1;
global flag0, flag1;
na data;

fn t0 {
    local other, d;
    flag0.store(1, rlx);
    fence(seq_cst);
    other = flag1.load(acq);
    if (other == 0) {
        data.nastore(0);
        d = data.naload();
        assert(d == 0);
    }
    flag0.store(0, rel);
}

fn t1 {
    local other, d;
    flag1.store(1, rlx);
    fence(seq_cst);
    other = flag0.load(acq);
    if (other == 0) {
        data.nastore(1);
        d = data.naload();
        assert(d == 1);
    }
    flag1.store(0, rel);
}
