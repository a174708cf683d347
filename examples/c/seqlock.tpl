// The seqlock of seqlock.c: two writers that exclude each other and a reader, again and again. Data is
// written with release and read with acquire, so that not even the values that are dropped later are out of
// order.
// expect: robust rc20=yes
max_value 7;
global seq, a, b;

fn writer[2] {
    local s, r;
    while (1) {
        s = seq.load(acq);
        if (s % 2 == 0) {
            r = CAS(seq, s, s + 1, acq, rel);
            if (r == s) {
                a.store(s / 2, rel);
                b.store(s / 2, rel);
                seq.store(s + 2, rel);
            }
        }
    }
}

fn reader {
    local s, t, x, y;
    while (1) {
        s = seq.load(acq);
        x = a.load(acq);
        y = b.load(acq);
        t = seq.load(acq);
    }
}
