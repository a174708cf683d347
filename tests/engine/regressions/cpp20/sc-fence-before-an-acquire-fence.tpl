// What t0 knows after its SC fence, it knows after the acquire fence as well, and so the write of t1 to x, which
// comes later in modification order, is after that SC fence.
max_value 2;
global x, y, z;

fn t0 {
    z.store(1, rlx);
    fence;
    y.store(1, rlx);
    fence(acq);
    x.store(1, rlx);
}

fn t1 {
    local r;
    y.store(2, rlx);
    x.store(2, rlx);
    fence;
    r = z.load(rlx);
}
