// The seqlock of seqlock-rdmw.tpl with a writer that makes the number odd by a plain store, which acquires
// nothing: broken, the reader's FADD(seq, 0) can come before that store though the data came from after it.
// expect: robust ra=yes rc20=no
// expect: assertion sc=no
max_value 7;
global seq, a, b;

fn writer {
    seq.store(1, rlx);
    a.store(1, rlx);
    b.store(1, rlx);
    seq.store(2, rel);
}

fn reader {
    local s0, s1, ra, rb;
    s0 = seq.load(acq);
    ra = a.load(rlx);
    rb = b.load(rlx);
    s1 = FADD(seq, 0, rlx, rel);
    if (s0 == s1 && s0 % 2 == 0) {
        assert(ra == rb);
    }
}
