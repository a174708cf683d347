// Dekker's first step, with fences. Each thread looks at the other's flag before its fence, to have it in its
// cache in time, and again after it; only what it sees then counts. Verdicts: computed.
// expect: robust ra=no rc20=no
// expect: observational ra=yes rc20=yes
// expect: race ra=no
max_value 1;
global x, y;
na cs;

fn left {
    local other;
    x.store(1, rlx);
    other = y.load(rlx);
    fence;
    other = y.load(acq);
    if (other == 0) {
        cs.nastore(0);
    }
}

fn right {
    local other;
    y.store(1, rlx);
    other = x.load(rlx);
    fence;
    other = x.load(acq);
    if (other == 0) {
        cs.nastore(1);
    }
}
