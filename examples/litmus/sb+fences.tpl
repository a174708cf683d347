// Store buffering with the fences that sb+rmws encodes. Rocker 2019, Example 3.6.
// expect: robust ra=yes
max_value 1;
global x, y;

fn t1 {
    local a;
    x.store(1);
    fence;
    a = y.load();
}

fn t2 {
    local b;
    y.store(1);
    fence;
    b = x.load();
}
