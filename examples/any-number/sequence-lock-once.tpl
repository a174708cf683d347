// A sequence lock with fences (Boehm 2012) that is written once, and any number of readers.
// expect: robust ra=yes rc20=yes tso=yes
max_value 2;
global seq, a, b;

fn writer {
    seq.store(1, rlx);
    fence(rel);
    a.store(1, rlx);
    b.store(1, rlx);
    seq.store(2, rel);
}

fn reader[*] {
    local before, after, ra, rb;
    before = wait(seq, 0, 2, acq);
    ra = a.load(rlx);
    rb = b.load(rlx);
    fence(acq);
    after = seq.load(rlx);
    if (before == after) {
        assert(ra == rb);
    }
}
