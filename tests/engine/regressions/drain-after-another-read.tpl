// Under TSO the first read of t0 can overtake its write, but not the one behind the fence.
global x, y, z;

fn t0 {
    local r;
    x.store(1);
    r = z.load();
    fence;
    r = y.load();
}

fn t1 {
    local r;
    y.store(1);
    fence;
    r = x.load();
}

fn t2 {
    z.store(1);
}
