// A global barrier for two threads (BAR in Lahav and Margalit 2019, section 2.3). Each thread raises its flag
// and waits for the other's; what was prepared before the barrier may be read after it.
// The waits are blocking: a busy loop would also see stale zeros, which is harmless but not robust
// (see litmus/bar-loop.tpl).
// expect: robust ra=yes
// expect: race ra=no
// expect: assertion sc=no
max_value 1;
global arrived0, arrived1;
na data0, data1;

fn left {
    local r;
    data0.nastore(1);
    arrived0.store(1);
    wait(arrived1, 1);
    r = data1.naload();
    assert(r == 1);
}

fn right {
    local r;
    data1.nastore(1);
    arrived1.store(1);
    wait(arrived0, 1);
    r = data0.naload();
    assert(r == 1);
}
