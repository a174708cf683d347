// Peterson's mutual exclusion with an acquire-release exchange of `turn` and no fence (Williams 2008).
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=no
// expect: assertion sc=no
max_value 2;
global flag0, flag1, turn;
na data;

fn t0 {
    local d;
    flag0.store(1, rlx);
    exchange(turn, 1, acq, rel);
    oneof({ wait(flag1, 0, acq); } { wait(turn, 0, acq); });
    data.nastore(0);
    d = data.naload();
    assert(d == 0);
    flag0.store(0, rel);
}

fn t1 {
    local d;
    flag1.store(1, rlx);
    exchange(turn, 0, acq, rel);
    oneof({ wait(flag0, 0, acq); } { wait(turn, 1, acq); });
    data.nastore(1);
    d = data.naload();
    assert(d == 1);
    flag1.store(0, rel);
}
