// Store buffering: both threads can read 0.
// expect: robust ra=no
max_value 1;
global x, y;

fn left {
    local r;
    x.store(1, rel);
    r = y.load(acq);
}

fn right {
    local r;
    y.store(1, rel);
    r = x.load(acq);
}
