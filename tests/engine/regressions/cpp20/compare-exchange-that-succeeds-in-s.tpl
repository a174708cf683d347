// The write of t1 to x is before the one of t0 to y in S, if the one of t1 to y is. Then the compare-exchange
// cannot succeed any more, since it would be in S too; that it is not when it fails does not matter.
max_value 2;
global x, y;

fn t0 {
    local r;
    y.store(1, seq_cst);
    r = CAS(x, 0, 2, seq_cst, rlx);
}

fn t1 {
    x.store(1, seq_cst);
    y.store(2, seq_cst);
}
