// Peterson's lock with one fence per thread, between the stores and the loads: the place that is
// enough on x86. It is not enough under release/acquire.
// expect: robust ra=no
max_value 2;
global flag0, flag1, turn;
na data;

fn t0 {
    local f, t, d;
    flag0.store(1, rel);
    turn.store(1, rel);
    fence;
    f = flag1.load(acq);
    t = turn.load(acq);
    while (f == 1 && t == 1) {
        f = flag1.load(acq);
        t = turn.load(acq);
    }
    d = data.naload();
    data.nastore(d + 1);
    flag0.store(0, rel);
}

fn t1 {
    local f, t, d;
    flag1.store(1, rel);
    turn.store(0, rel);
    fence;
    f = flag0.load(acq);
    t = turn.load(acq);
    while (f == 1 && t == 0) {
        f = flag0.load(acq);
        t = turn.load(acq);
    }
    d = data.naload();
    data.nastore(d + 1);
    flag1.store(0, rel);
}
