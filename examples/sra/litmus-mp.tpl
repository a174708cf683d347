// Message passing: a reader of the flag y sees the message x. SRA 2020, Examples 3.6 and 5.2.
// bad: t2@end && t2.a == 1 && t2.b == 0
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 1;
global x, y;

fn t1 {
    x.store(1);
    y.store(1);
}

fn t2 {
    local a, b;
    a = y.load();
    b = x.load();
    end:
}
