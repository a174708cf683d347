// The message of a seq_cst write has P without K of the write itself: what strongly happens before a reader
// must be followed by a release.
max_value 3;
global x, y;

fn t0 {
    local r;
    r = x.load(acq);
    r = y.load(seq_cst);
    r = wait(y, 1, seq_cst);
}

fn t1 {
    local r;
    x.store(1, seq_cst);
}

fn t2 {
    local r;
    r = CAS(y, 0, 1, seq_cst);
    x.store(1, seq_cst);
    r = exchange(y, 2, seq_cst);
}
