// What happens before the SC fence of t2 comes before whoever overwrites or reads what t2 writes after it:
// without F of the writer in K of the location the answer is another one.
max_value 3;
global x, y, z;

fn t0 {
    local r;
    y.store(2, seq_cst);
    r = z.load(seq_cst);
}

fn t1 {
    local r;
    z.store(2, rel);
}

fn t2 {
    local r;
    r = FADD(z, 1, rel);
    fence;
    y.store(1);
}
