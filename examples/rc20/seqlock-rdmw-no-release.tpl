// The seqlock of seqlock-rdmw.tpl with a relaxed FADD(seq, 0). Real compilers and processors may move it up;
// RC20 has no load buffering, so there it changes nothing: the writer cannot take its number from a reader
// that has already seen what it then writes.
// expect: robust ra=yes rc20=yes
// expect: assertion sc=no
max_value 7;
global seq, a, b;

fn writer {
    BCAS(seq, 0, 1, acq, rlx);
    a.store(1, rlx);
    b.store(1, rlx);
    seq.store(2, rel);
}

fn reader {
    local s0, s1, ra, rb;
    s0 = seq.load(acq);
    ra = a.load(rlx);
    rb = b.load(rlx);
    s1 = FADD(seq, 0, rlx, rlx);
    if (s0 == s1 && s0 % 2 == 0) {
        assert(ra == rb);
    }
}
