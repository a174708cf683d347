// Two threads write two locations in opposite orders, and each finds its own write overwritten by the first
// write of the other. RA allows that, SRA does not: there would be a cycle of hb and mo. SRA 2020, Examples
// 3.11 and 5.9. (The write/write race keeps fencepost from answering for RA.)
// bad: t1@end && t2@end && t1.a == 1 && t2.b == 1
// expect: verify sc=yes tso=yes sra=yes
// expect: robust ra=no
max_value 2;
global x, y;

fn t1 {
    local a;
    x.store(1);
    y.store(2);
    a = y.load();
    end:
}

fn t2 {
    local b;
    y.store(1);
    x.store(2);
    b = x.load();
    end:
}
