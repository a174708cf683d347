// Store buffering with read-modify-writes of one more location, which act as fences. SRA 2020, Example 3.10.
// bad: t1@end && t2@end && t1.a == 0 && t2.b == 0
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 1;
global x, y, f;

fn t1 {
    local a;
    x.store(1);
    FADD(f, 0);
    a = y.load();
    end:
}

fn t2 {
    local b;
    y.store(1);
    FADD(f, 0);
    b = x.load();
    end:
}
