// A barrier in which each thread takes the other's flag down by a CAS in a loop: the CAS may fail on a
// stale 0, which is harmless but not robust. Rocker 2019, section 2.3, and RSAN 2025, section 4.3,
// describe such loops; computed.
// expect: robust ra=no
max_value 2;
global x, y;

fn t1 {
    local r;
    x.store(1);
    while (r != 1) {
        r = CAS(y, 1, 2);
    }
}

fn t2 {
    local r;
    y.store(1);
    while (r != 1) {
        r = CAS(x, 1, 2);
    }
}
