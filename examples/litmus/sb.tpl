// Store buffering: both threads may read 0, which sequential consistency forbids. Rocker 2019, Example
// 3.1; SRA 2020, Example 3.5; RSAN 2025, Example 1.1 and Figure 1.
// expect: robust ra=no rc20=no
max_value 1;
global x, y;

fn t1 {
    local a;
    x.store(1, rel);
    a = y.load(acq);
}

fn t2 {
    local b;
    y.store(1, rel);
    b = x.load(acq);
}
