// Store buffering whose locations are written once more at the end: the write that the other thread misses
// need not be the last one. RSAN 2025, Example 3.1.
// expect: robust ra=no rc20=no
max_value 2;
global x, y;

fn t1 {
    local a;
    x.store(1, rel);
    a = y.load(acq);
    x.store(2, rel);
}

fn t2 {
    local b;
    y.store(1, rel);
    b = x.load(acq);
    y.store(2, rel);
}
