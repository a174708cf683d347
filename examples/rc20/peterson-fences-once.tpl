// Peterson's mutual exclusion (1981) in C++20: relaxed stores with an SC fence after each, acquire loads, and
// a release to leave. Each thread enters once. The wait for either of two conditions is a choice of what to
// wait for. Runs in which a thread chose badly and stays blocked do not matter.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=no
// expect: assertion sc=no
max_value 2;
global flag0, flag1, turn;
na data;

fn t0 {
    local d;
    flag0.store(1, rlx);
    fence(seq_cst);
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
    fence(seq_cst);
    turn.store(0, rlx);
    fence(seq_cst);
    oneof({ wait(flag0, 0, acq); } { wait(turn, 1, acq); });
    data.nastore(1);
    d = data.naload();
    assert(d == 1);
    flag1.store(0, rel);
}
