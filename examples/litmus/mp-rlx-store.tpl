// Message passing with a relaxed store of the flag: the message may arrive late. RSAN 2025, Figure 1 (any
// weaker access to y). Under RA every access counts as release or acquire.
// expect: robust ra=yes rc20=no
// expect: assertion sc=no
max_value 1;
global x, y;

fn t1 {
    x.store(1, rel);
    y.store(1, rlx);
}

fn t2 {
    local a, b;
    a = y.load(acq);
    b = x.load(acq);
    assert(a == 0 || b == 1);
}
