// Two messages x and y announced by one flag z. What the third thread has learnt from z, the fourth learns
// through w, so they cannot miss one message each. SRA 2020, Example 5.4 (2MP), without the explicit
// initialization. Robustness: computed.
// expect: robust ra=no
max_value 1;
global x, y, z, w;

fn t1 {
    x.store(1);
    z.store(1);
}

fn t2 {
    y.store(1);
    z.store(1);
}

fn t3 {
    local a, b;
    a = z.load();
    w.store(1);
    b = x.load();
}

fn t4 {
    local c, d;
    c = w.load();
    d = y.load();
}
