// As fadd-read, but the second thread writes x: the write cannot slip in before the FADD, which has to
// follow the write that it reads. RSAN 2025, Example 4.1, Program (2); the listing, Figure 6, is not in
// our copy of the paper and is rebuilt from the text.
// expect: robust ra=yes rc20=yes
max_value 2;
global x, y;

fn t1 {
    local a, b;
    a = FADD(x, 1, acq, rel);
    b = y.load(acq);
}

fn t2 {
    y.store(1, rel);
    x.store(2, rel);
}
