// Two threads write two locations in opposite orders: both may find their first write to be the last one,
// since a write need not come after all others. Rocker 2019, Example 3.4; SRA 2020, Example 3.11; RSAN
// 2025, Example 7.1.
// expect: robust ra=no rc20=no tso=yes
max_value 2;
global x, y;

fn t1 {
    local a;
    x.store(1, rel);
    y.store(2, rel);
    a = y.load(acq);
}

fn t2 {
    local b;
    y.store(1, rel);
    x.store(2, rel);
    b = x.load(acq);
}
