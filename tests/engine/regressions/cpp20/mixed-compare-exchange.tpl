// A compare-exchange that is seq_cst where it succeeds, and acquire where it fails. The newest stale write
// that happens-before allows was chosen for the witness, but S forbids it to the success.
max_value 3;
global x, y;

fn t0 {
    local r;
    y.store(1, seq_cst);
    r = CAS(x, 1, 1, seq_cst, acq);
    r = y.load(acq);
}

fn t1 {
    local r;
    r = wait(x, 1, seq_cst);
    fence(acq);
    x.store(1, seq_cst);
    y.store(1, seq_cst);
}

fn t2 {
    local r;
    x.store(1, seq_cst);
}
