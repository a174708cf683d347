// A sequence lock (Boehm 2012): a writer that writes again and again, any number of readers that try again.
// The counter has two bits. The reader ends with a read-don't-modify-write, and the data is release and
// acquire: relaxed, a reader could see one half of a write and not the other, and try again in vain.
// expect: robust ra=yes rc20=yes tso=yes
max_value 3;
global seq, a, b;

fn writer {
    while (1) {
        FADD(seq, 1, acq, rlx);
        a.store(1, rel);
        b.store(1, rel);
        FADD(seq, 1, rlx, rel);
        FADD(seq, 1, acq, rlx);
        a.store(0, rel);
        b.store(0, rel);
        FADD(seq, 1, rlx, rel);
    }
}

fn reader[*] {
    local before, after, ra, rb;
    do {
        before = wait(seq, 0, 2, acq);
        ra = a.load(acq);
        rb = b.load(acq);
        after = FADD(seq, 0, rlx, rel);
    } while (before != after);
}
