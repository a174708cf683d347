// Store buffering with a read-modify-write, in place of a fence, in one thread only: it has no effect.
// Rocker 2019, Example 3.6.
// expect: robust ra=no
max_value 1;
global x, y, f;

fn t1 {
    local a, r;
    x.store(1);
    r = FADD(f, 0);
    a = y.load();
}

fn t2 {
    local b;
    y.store(1);
    b = x.load();
}
