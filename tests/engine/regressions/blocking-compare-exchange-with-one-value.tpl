// There is a stale value that a write could follow, but not one for which the compare-exchange waits.
global x, y;

fn sender {
    y.store(1, rlx);
    x.store(1, rlx);
}

fn receiver {
    wait(x, 1, rlx);
    BCAS(y, 1, 2);
}
