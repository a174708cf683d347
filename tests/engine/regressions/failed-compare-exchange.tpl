// The order for failure was forgotten: a compare-exchange that fails reads with its third mode.
global x, d;

fn sender {
    d.store(1);
    x.store(1, rel);
}

fn receiver {
    local seen, payload;
    seen = CAS(x, 0, 7, acq, rel, rlx);
    payload = d.load();
}
