// Message passing through a second thread, which hands on a flag of its own: transitive message passing as
// in SRA 2020, Example 3.7, with one more location. Robustness: computed.
// expect: robust ra=yes
// expect: assertion sc=no
max_value 1;
global x, y, z;

fn t1 {
    x.store(1);
    y.store(1);
}

fn t2 {
    local a;
    a = y.load();
    if (a == 1) {
        z.store(1);
    }
}

fn t3 {
    local b, c;
    b = z.load();
    c = x.load();
    assert(b == 0 || c == 1);
}
