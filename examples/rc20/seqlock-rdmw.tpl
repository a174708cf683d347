// A seqlock whose reader ends with a read-don't-modify-write (Boehm 2012): FADD(seq, 0) with release, which
// the writer's acquire RMW is ordered after. One write.
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
    s1 = FADD(seq, 0, rlx, rel);
    if (s0 == s1 && s0 % 2 == 0) {
        assert(ra == rb);
    }
}
