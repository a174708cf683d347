// Store buffering with a read-modify-write in each thread, but of two different locations: they do not
// synchronize the threads. Rocker 2019, Example 3.6 (it is crucial to use the same location).
// expect: robust ra=no
max_value 1;
global x, y, f, g;

fn t1 {
    local a, r;
    x.store(1);
    r = FADD(f, 0);
    a = y.load();
}

fn t2 {
    local b, r;
    y.store(1);
    r = FADD(g, 0);
    b = x.load();
}
