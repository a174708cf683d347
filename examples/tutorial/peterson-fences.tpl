// Peterson's lock with two fences per thread: one after each store.
// expect: robust ra=yes
// expect: race ra=no
// expect: assertion sc=no
max_value 2;
global flag0, flag1, turn;
na data;

fn t0 {
    local f, t, d;
    flag0.store(1, rel);
    fence;
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
    fence;
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
