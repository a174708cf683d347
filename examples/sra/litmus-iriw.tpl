// Independent reads of independent writes: the two readers may disagree on the order of the writes. SRA
// 2020, Examples 3.8 and 5.1.
// bad: t2@end && t3@end && t2.a == 1 && t2.b == 0 && t3.c == 1 && t3.d == 0
// expect: verify sc=yes tso=yes sra=no ra=no
// expect: robust ra=no
max_value 1;
global x, y;

fn t1 {
    x.store(1);
}

fn t2 {
    local a, b;
    a = x.load();
    b = y.load();
    end:
}

fn t3 {
    local c, d;
    c = y.load();
    d = x.load();
    end:
}

fn t4 {
    y.store(1);
}
