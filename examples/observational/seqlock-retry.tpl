// A sequence lock whose reader tries again until what it has read is a snapshot. Data is read relaxed, and
// what was read while a writer was at work is dropped. Verdicts: computed.
// expect: robust ra=yes rc20=no
// expect: observational ra=yes rc20=yes
// expect: assertion sc=no
max_value 4;
global seq, a, b;

fn writer {
    seq.store(1, rlx);
    fence(rel);
    a.store(1, rlx);
    b.store(1, rlx);
    seq.store(2, rel);
    seq.store(3, rlx);
    fence(rel);
    a.store(2, rlx);
    b.store(2, rlx);
    seq.store(4, rel);
}

fn reader {
    local s0, s1, ra, rb, done;
    while (done == 0) {
        s0 = seq.load(acq);
        ra = a.load(rlx);
        rb = b.load(rlx);
        fence(acq);
        s1 = seq.load(rlx);
        if (s0 == s1 && s0 % 2 == 0) {
            done = 1;
        }
    }
    assert(ra == rb);
}
