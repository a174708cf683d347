// Data is read ahead, relaxed, and used only if a flag that is read later says that it was valid. The writer
// takes the flag back before it changes anything. Verdicts: computed.
// expect: robust ra=yes rc20=no
// expect: observational ra=yes rc20=yes
max_value 2;
global valid = 1, a, b;

fn writer {
    valid.store(0, rlx);
    fence(rel);
    a.store(1, rlx);
    b.store(1, rlx);
    a.store(2, rlx);
    b.store(2, rlx);
}

fn reader {
    local ra, rb, ok;
    ra = a.load(rlx);
    rb = b.load(rlx);
    fence(acq);
    ok = valid.load(rlx);
    if (ok == 1) {
        assert(ra == 0 && rb == 0);
    }
}
