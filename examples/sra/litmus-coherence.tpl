// Two threads write one location and read it twice: they agree on the order of the writes. SRA 2020, Example
// 3.11 (write coherence).
// bad: t1@end && t2@end && t1.a == 2 && t2.b == 1
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 2;
global x;

fn t1 {
    local a;
    x.store(1);
    a = x.load();
    end:
}

fn t2 {
    local b;
    x.store(2);
    b = x.load();
    end:
}
