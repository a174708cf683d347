// Three writers that read and three readers, which see the three writes in orders that form a circle. SRA
// 2020, Example 5.3, without the explicit initialization: SRA, hence RA, allows each reader and each
// writer to miss the last of its writes, and no interleaving does.
// expect: robust ra=no
max_value 1;
global x, y, z;

fn t1 {
    local a1, a2;
    x.store(1);
    a1 = z.load();
    a2 = y.load();
}

fn t2 {
    local b1, b2;
    y.store(1);
    b1 = x.load();
    b2 = z.load();
}

fn t3 {
    local c1, c2;
    z.store(1);
    c1 = y.load();
    c2 = x.load();
}

fn t4 {
    local d1, d2, d3;
    d1 = x.load();
    d2 = y.load();
    d3 = z.load();
}

fn t5 {
    local e1, e2, e3;
    e1 = y.load();
    e2 = z.load();
    e3 = x.load();
}

fn t6 {
    local f1, f2, f3;
    f1 = z.load();
    f2 = x.load();
    f3 = y.load();
}
