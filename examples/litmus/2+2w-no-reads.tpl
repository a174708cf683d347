// 2+2w without its reads: no program state tells the weak run from one under sequential consistency, yet
// its execution graph is a different one. Rocker 2019, section 4.
// expect: robust ra=no
max_value 2;
global x, y;

fn t1 {
    x.store(1);
    y.store(2);
}

fn t2 {
    y.store(1);
    x.store(2);
}
