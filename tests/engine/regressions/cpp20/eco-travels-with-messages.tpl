// What is before the read of x by eco must travel with happens-before to the SC fence of another thread:
// without E in messages, or without E of the read itself, the answer is another one.
max_value 3;
global x, y, z;

fn t0 {
    local r;
    y.store(1);
    x.store(1, rel);
}

fn t1 {
    local r;
    r = CAS(x, 0, 2, rlx, rel, seq_cst);
    fence;
    z.store(2);
}

fn t2 {
    local r;
    z.store(2);
    z.store(1);
}

fn t3 {
    local r;
    z.store(2);
    fence;
    r = FADD(y, 1, rel);
}
