// A sequence lock whose two writers make the counter odd with a plain store: both can write at once.
// expect: verify sc=no tso=no sra=no ra=no
max_value 4;
global seq, left, right;

fn writer[2] {
    local s;
    while (1) {
        // at 4 the counter is used up
        s = wait(seq, 0, 2);
        seq.store(s + 1);
        left.store(s / 2 + 1);
        right.store(s / 2 + 1);
        seq.store(s + 2);
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
