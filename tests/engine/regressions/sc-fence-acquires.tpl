// Nothing else makes the receiver know of the payload. (One thread alone would have its fences for itself.)
global x, y;

fn sender {
    y.store(1, rlx);
    x.store(1, rel);
}

fn receiver {
    local r;
    wait(x, 1, rlx);
    fence;
    r = y.load(rlx);
}

fn other {
    fence;
}
