// Store buffering that only failing compare-exchanges show.
global x, y;

fn left {
    local r;
    x.store(1, rlx);
    r = CAS(y, 2, 3, rlx);
}

fn right {
    local r;
    y.store(1, rlx);
    r = CAS(x, 2, 3, rlx);
}
