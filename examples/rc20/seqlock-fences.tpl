// A seqlock with fences (Boehm 2012): the reader has an acquire fence before it reads the number again, the
// writer a release fence after it made the number odd. One write.
// expect: robust ra=yes rc20=yes
// expect: assertion sc=no
max_value 7;
global seq, a, b;

fn writer {
    seq.store(1, rlx);
    fence(rel);
    a.store(1, rlx);
    b.store(1, rlx);
    seq.store(2, rel);
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
