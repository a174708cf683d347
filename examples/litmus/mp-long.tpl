// Message passing after ten writes to a location that nobody reads. RSAN 2025, Example 7.2, with N = 1.
// expect: robust ra=yes rc20=yes
// expect: assertion sc=no
max_value 10;
global x, y, irrelevant;

fn t1 {
    local i;
    while (i < 10) {
        i = i + 1;
        irrelevant.store(i, rel);
    }
    x.store(1, rel);
    y.store(1, rel);
}

fn t2 {
    local a, b;
    a = y.load(acq);
    b = x.load(acq);
    assert(a == 0 || b == 1);
}
