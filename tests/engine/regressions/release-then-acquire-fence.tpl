// Fences in a row are told to topics as one: what the first one releases must be sent all the same.
global x, y;

fn sender {
    y.store(1, rlx);
    fence(rel);
    fence(acq);
    x.store(1, rlx);
}

fn receiver {
    local r;
    wait(x, 1, acq);
    r = y.load(rlx);
}
