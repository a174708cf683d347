// Store buffering that writes the initial value again: no program state tells the weak run from one under
// sequential consistency, yet its execution graph is a different one. Rocker 2019, section 4.
// expect: robust ra=no
max_value 1;
global x, y;

fn t1 {
    local a;
    x.store(0);
    a = y.load();
}

fn t2 {
    local b;
    y.store(0);
    b = x.load();
}
