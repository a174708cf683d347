// The core of Dekker's mutual exclusion (Dijkstra 1965) with release and acquire: still broken.
// expect: robust ra=no rc20=no
// expect: race ra=no rc20=no
// expect: assertion sc=no
max_value 1;
global flag0, flag1;
na data;

fn t0 {
    local other, d;
    flag0.store(1, rel);
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
    flag1.store(1, rel);
    other = flag0.load(acq);
    if (other == 0) {
        data.nastore(1);
        d = data.naload();
        assert(d == 1);
    }
    flag1.store(0, rel);
}
