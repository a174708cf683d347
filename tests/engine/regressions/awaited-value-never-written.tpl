// Both BCAS wait for a value that nobody writes. Values that are not told apart share a class, and 5 must not
// be taken for a member of it: the stale 0 of x and y would then look like what the BCAS waits for.
max_value 7;
global x, y;

fn left {
    x.store(1);
    x.store(2);
    BCAS(y, 5, 6);
}

fn right {
    y.store(1);
    y.store(2);
    BCAS(x, 5, 6);
}
