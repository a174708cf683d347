// Peterson's mutual exclusion (1981) with one SC fence, between the two stores: too early.
// expect: robust ra=no rc20=no
// expect: race ra=no rc20=no
// expect: assertion sc=no
max_value 2;
global flag0, flag1, turn;
na data;

fn t0 {
    local d;
    flag0.store(1, rlx);
    fence(seq_cst);
    turn.store(1, rel);
    oneof({ wait(flag1, 0, acq); } { wait(turn, 0, acq); });
    data.nastore(0);
    d = data.naload();
    assert(d == 0);
    flag0.store(0, rel);
}

fn t1 {
    local d;
    flag1.store(1, rlx);
    fence(seq_cst);
    turn.store(0, rel);
    oneof({ wait(flag0, 0, acq); } { wait(turn, 1, acq); });
    data.nastore(1);
    d = data.naload();
    assert(d == 1);
    flag1.store(0, rel);
}
