// Two read-modify-writes never read from the same write. SRA 2020, Examples 3.9 and 5.10.
// bad: t1@end && t2@end && t1.a == 0 && t2.b == 0
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 1;
global x;

fn t1 {
    local a;
    a = CAS(x, 0, 1);
    end:
}

fn t2 {
    local b;
    b = CAS(x, 0, 1);
    end:
}
