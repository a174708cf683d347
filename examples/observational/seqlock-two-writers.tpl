// A sequence lock with two writers, which take turns by a compare-exchange of the number. Verdicts: computed.
// expect: robust ra=yes rc20=no
// expect: observational ra=yes rc20=yes
// expect: assertion sc=no
max_value 4;
global seq, a, b;

fn writer[2] {
    local s, r;
    s = seq.load(rlx);
    if (s % 2 == 0) {
        r = CAS(seq, s, s + 1, acq, rlx);
        if (r == s) {
            fence(rel);
            a.store(s / 2 + 1, rlx);
            b.store(s / 2 + 1, rlx);
            seq.store(s + 2, rel);
        }
    }
}

fn reader {
    local s0, s1, ra, rb;
    s0 = seq.load(acq);
    ra = a.load(rlx);
    rb = b.load(rlx);
    fence(acq);
    s1 = seq.load(rlx);
    if (s0 == s1 && s0 % 2 == 0) {
        assert(ra == rb);
    }
}
