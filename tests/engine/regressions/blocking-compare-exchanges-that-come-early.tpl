// Either could come before the other thread's store in modification order.
global x, y;

fn left {
    x.store(1, rlx);
    BCAS(y, 0, 2);
}

fn right {
    y.store(1, rlx);
    BCAS(x, 0, 2);
}
