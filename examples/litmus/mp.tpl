// Message passing: a reader of the flag y sees the message x. Rocker 2019, Example 3.2; SRA 2020, Example
// 3.6; RSAN 2025, Figure 1.
// expect: robust ra=yes rc20=yes
// expect: assertion sc=no
max_value 1;
global x, y;

fn t1 {
    x.store(1, rel);
    y.store(1, rel);
}

fn t2 {
    local a, b;
    a = y.load(acq);
    b = x.load(acq);
    assert(a == 0 || b == 1);
}
