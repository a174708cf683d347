// Store buffering with a read-modify-write of an otherwise unused location in each thread, which serves as
// a fence. Rocker 2019, Example 3.6; SRA 2020, Example 3.10.
// expect: robust ra=yes
max_value 1;
global x, y, f;

fn t1 {
    local a, r;
    x.store(1);
    r = FADD(f, 0);
    a = y.load();
}

fn t2 {
    local b, r;
    y.store(1);
    r = FADD(f, 0);
    b = x.load();
}
