// Message passing through a third thread. SRA 2020, Example 3.7.
// bad: t3@end && t3.b == 1 && t3.c == 0
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 1;
global x, y, z;

fn t1 {
    x.store(1);
    y.store(1);
}

fn t2 {
    wait(y, 1);
    z.store(1);
}

fn t3 {
    local b, c;
    b = z.load();
    c = x.load();
    end:
}
