// Load buffering: no value comes from the future. SRA 2020, section 3 (irr-hb-mo).
// bad: t1@end && t2@end && t1.a == 1 && t2.b == 1
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 1;
global x, y;

fn t1 {
    local a;
    a = x.load();
    y.store(1);
    end:
}

fn t2 {
    local b;
    b = y.load();
    x.store(1);
    end:
}
