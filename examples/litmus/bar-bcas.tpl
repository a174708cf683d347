// bar-cas-loop with the blocking CAS, which has no event for a failure. Rocker 2019, section 2.3; RSAN
// 2025, section 4.3; computed.
// expect: robust ra=yes
max_value 2;
global x, y;

fn t1 {
    x.store(1);
    BCAS(y, 1, 2);
}

fn t2 {
    y.store(1);
    BCAS(x, 1, 2);
}
