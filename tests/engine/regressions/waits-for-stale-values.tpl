// Store buffering that only the waits show.
global x, y;

fn left {
    x.store(1, rlx);
    wait(y, 0, rlx);
}

fn right {
    y.store(1, rlx);
    wait(x, 0, rlx);
}
