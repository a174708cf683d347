// Williams' form of Peterson's lock (peterson-exchange-once.tpl) with a relaxed exchange.
// expect: robust ra=yes rc20=no
// expect: race ra=no rc20=no
// expect: assertion sc=no
max_value 2;
global flag0, flag1, turn;
na data;

fn t0 {
    local d;
    flag0.store(1, rlx);
    exchange(turn, 1, rlx, rlx);
    oneof({ wait(flag1, 0, acq); } { wait(turn, 0, acq); });
    data.nastore(0);
    d = data.naload();
    assert(d == 0);
    flag0.store(0, rel);
}

fn t1 {
    local d;
    flag1.store(1, rlx);
    exchange(turn, 0, rlx, rlx);
    oneof({ wait(flag0, 0, acq); } { wait(turn, 1, acq); });
    data.nastore(1);
    d = data.naload();
    assert(d == 1);
    flag1.store(0, rel);
}
