// What a seq_cst access acquires is not in its own K: it strongly happens before the next step only.
max_value 3;
global x, y;

fn t0 {
    y.store(1, sc);
    x.store(1, rel);
}

fn t1 {
    local r;
    r = wait(x, 1, sc);
    x.store(2, rlx);
}

fn t2 {
    local r;
    BCAS(x, 2, 3, rlx);
    fence(sc);
    r = y.load(rlx);
}
