// Under TSO the write of t0 can be overtaken by its read of x; but then nobody else comes back to y.
global x, y;

fn t0 {
    local r;
    y.store(1);
    r = x.load();
    r = y.load();
}

fn t1 {
    local r;
    r = y.load();
    x.store(1);
}
