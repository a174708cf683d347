// Independent reads of independent writes: the two readers may disagree on the order of the writes. Rocker
// 2019, Example 3.3; SRA 2020, Example 3.8.
// expect: robust ra=no tso=yes
max_value 1;
global x, y;

fn t1 {
    x.store(1);
}

fn t2 {
    local a, b;
    a = x.load();
    b = y.load();
}

fn t3 {
    local c, d;
    c = y.load();
    d = x.load();
}

fn t4 {
    y.store(1);
}
