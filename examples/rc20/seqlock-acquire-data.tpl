// A seqlock without fences (after Boehm 2012): the data itself is loaded with acquire and all stores are
// release, so that not even the values that are dropped later can be out of order. Two writes.
// expect: robust ra=yes rc20=yes
// expect: assertion sc=no
max_value 7;
global seq, a, b;

fn writer {
    seq.store(1, rel);
    a.store(1, rel);
    b.store(1, rel);
    seq.store(2, rel);
    seq.store(3, rel);
    a.store(2, rel);
    b.store(2, rel);
    seq.store(4, rel);
}

fn reader {
    local s0, s1, ra, rb;
    s0 = seq.load(acq);
    ra = a.load(acq);
    rb = b.load(acq);
    s1 = seq.load(rlx);
    if (s0 == s1 && s0 % 2 == 0) {
        assert(ra == rb);
    }
}
