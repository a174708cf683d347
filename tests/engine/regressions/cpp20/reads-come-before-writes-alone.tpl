// t1 reads x after t0 has, but nothing puts that after it in S: z may still be 0. What comes before the next
// write to x does not come before the next read.
global w, x, z;

fn t0 {
    local r;
    z.store(1, seq_cst);
    r = x.load(seq_cst);
    w.store(1, rlx);
}

fn t1 {
    local r;
    x.store(1, rlx);
    wait(w, 1, rlx);
    r = x.load(seq_cst);
    r = z.load(seq_cst);
}
