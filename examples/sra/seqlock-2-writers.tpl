// A sequence lock with two writers and a reader. The writers take the lock by making the counter odd.
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 4;
global seq, left, right;

fn writer[2] {
    local s, r;
    while (1) {
        // an odd counter is the lock; at 4 it is used up
        s = wait(seq, 0, 2);
        r = CAS(seq, s, s + 1);
        if (r == s) {
            left.store(s / 2 + 1);
            right.store(s / 2 + 1);
            seq.store(s + 2);
        }
    }
}

fn reader {
    local s, l, r;
    while (1) {
        s = wait(seq, 0, 2, 4);
        l = left.load();
        r = right.load();
        if (l != r) {
            l = seq.load();
            assert(l != s);
        }
    }
}
