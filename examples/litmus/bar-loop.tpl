// A barrier with busy loops: both may go round on a stale 0, which is harmless but not robust. Rocker
// 2019, section 2.3 (BAR, left); RSAN 2025, Example 4.2 (BAR).
// expect: robust ra=no rc20=no tso=no
max_value 1;
global x, y;

fn t1 {
    local r;
    x.store(1, rel);
    while (r != 1) {
        r = y.load(acq);
    }
}

fn t2 {
    local r;
    y.store(1, rel);
    while (r != 1) {
        r = x.load(acq);
    }
}
