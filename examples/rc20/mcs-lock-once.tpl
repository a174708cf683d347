// The queue lock of Mellor-Crummey and Scott (1991) in C11, for two threads that enter once each.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=no
// expect: assertion sc=no
max_value 2;
global tail, next1, next2, blocked1, blocked2;
na data;

fn t1 {
    local p, r, d;
    p = exchange(tail, 1, acq, rel);
    if (p == 2) {
        blocked1.store(1, rlx);
        next2.store(1, rel);
        wait(blocked1, 0, acq);
    }
    data.nastore(1);
    d = data.naload();
    assert(d == 1);
    r = CAS(tail, 1, 0, rlx, rel);
    if (r == 2) {
        wait(next1, 2, acq);
        blocked2.store(0, rel);
    }
}

fn t2 {
    local p, r, d;
    p = exchange(tail, 2, acq, rel);
    if (p == 1) {
        blocked2.store(1, rlx);
        next1.store(2, rel);
        wait(blocked2, 0, acq);
    }
    data.nastore(2);
    d = data.naload();
    assert(d == 2);
    r = CAS(tail, 2, 0, rlx, rel);
    if (r == 1) {
        wait(next2, 1, acq);
        blocked1.store(0, rel);
    }
}
