// Two threads write one location and read it back. One location alone is sequentially consistent: SRA
// 2020, section 3.3, Example 3.11 (write coherence).
// expect: robust ra=yes
max_value 2;
global x;

fn t1 {
    local a, b;
    x.store(1);
    a = x.load();
    b = x.load();
}

fn t2 {
    local c, d;
    x.store(2);
    c = x.load();
    d = x.load();
}
