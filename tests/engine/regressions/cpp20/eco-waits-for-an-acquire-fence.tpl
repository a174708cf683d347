// A relaxed load learns nothing of E that a release store could pass on.
max_value 1;
global x, y, z, w;

fn t0 {
    x.store(1, sc);
    y.store(1, sc);
}

fn t1 {
    local r;
    r = y.load(rlx);
    z.store(1, rel);
}

fn t2 {
    local r;
    r = z.load(rlx);
    w.store(1, rel);
    fence(acq);  // keeps what t2 would learn by it
    r = y.load(rlx);
}

fn t3 {
    local r;
    r = w.load(acq);
    fence(sc);
    r = x.load(rlx);
}
