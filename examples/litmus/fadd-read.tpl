// Store buffering with a FADD in place of one write: the read of x may still miss it. RSAN 2025, Example
// 4.1, Program (1); the listing, Figure 6, is not in our copy of the paper and is rebuilt from the text.
// expect: robust ra=no rc20=no
max_value 1;
global x, y;

fn t1 {
    local a, b;
    a = FADD(x, 1, acq, rel);
    b = y.load(acq);
}

fn t2 {
    local c;
    y.store(1, rel);
    c = x.load(acq);
}
