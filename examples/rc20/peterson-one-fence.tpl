// Peterson's mutual exclusion (1981) with one SC fence, after both stores. Wrong under RC20 and RA: a thread
// whose store to `turn` comes late can still be put before the other's, and then both pass.
// expect: robust ra=no rc20=no
// expect: race ra=no rc20=no
// expect: assertion sc=no
max_value 2;
global flag0, flag1, turn;
na data;

fn t0 {
    local d;
    flag0.store(1, rlx);
    turn.store(1, rlx);
    fence(seq_cst);
    oneof({ wait(flag1, 0, acq); } { wait(turn, 0, acq); });
    data.nastore(0);
    d = data.naload();
    assert(d == 0);
    flag0.store(0, rel);
}

fn t1 {
    local d;
    flag1.store(1, rlx);
    turn.store(0, rlx);
    fence(seq_cst);
    oneof({ wait(flag0, 0, acq); } { wait(turn, 1, acq); });
    data.nastore(1);
    d = data.naload();
    assert(d == 1);
    flag1.store(0, rel);
}
