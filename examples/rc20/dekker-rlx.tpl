// The core of Dekker's mutual exclusion (Dijkstra 1965) with relaxed accesses: raise a flag, enter if the
// other one is down. Broken: the store can be overtaken by the load.
// expect: robust ra=no rc20=no
// expect: race ra=no rc20=yes
// expect: assertion sc=no
max_value 1;
global flag0, flag1;
na data;

fn t0 {
    local other, d;
    flag0.store(1, rlx);
    other = flag1.load(rlx);
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
    other = flag0.load(rlx);
    if (other == 0) {
        data.nastore(1);
        d = data.naload();
        assert(d == 1);
    }
    flag1.store(0, rel);
}
