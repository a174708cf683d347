// Store buffering: both may miss the other's write. SRA 2020, Example 3.5 and Figure 5.
// bad: t1@end && t2@end && t1.a == 0 && t2.b == 0
// expect: verify sc=yes tso=no sra=no ra=no
// expect: robust ra=no
max_value 1;
global x, y;

fn t1 {
    local a;
    x.store(1);
    a = y.load();
    end:
}

fn t2 {
    local b;
    y.store(1);
    b = x.load();
    end:
}
