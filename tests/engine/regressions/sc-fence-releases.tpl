// Nothing else makes the sender tell of the payload. (One thread alone would have its fences for itself.)
global x, y;

fn sender {
    y.store(1, rlx);
    fence;
    x.store(1, rlx);
}

fn receiver {
    local r;
    wait(x, 1, acq);
    r = y.load(rlx);
}

fn other {
    fence;
}
