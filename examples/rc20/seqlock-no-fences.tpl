// A broken seqlock (after Boehm 2012): without a fence the reader's last load can come before the data.
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
    s1 = seq.load(acq);
    if (s0 == s1 && s0 % 2 == 0) {
        assert(ra == rb);
    }
}
