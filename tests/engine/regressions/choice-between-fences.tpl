// Steps are looked up: when t first reads x = 0 from the start, it makes no difference whether it passes the
// fence, but when it reads the 0 that w has written, it does. It was robust before in all orders but by location.
global x, y;

fn w {
    y.store(1, rlx);
    x.store(0, rel);
}

fn t {
    local r;
    r = x.load(rlx);
    oneof({ fence(acq); } { skip; });
    r = y.load(rlx);
}
