// The seqlock of seqlock-fences.tpl with two writes. The reader can see the second write's `a` and then a `b`
// from before the first: not robust. It notices by the number and drops both: harmless.
// expect: robust ra=yes rc20=no
// expect: assertion sc=no
max_value 7;
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
