// A sequence lock with one writer (Linux; Boehm, Can seqlocks get along with programming language memory
// models?, 2012). The counter must not wrap around while a reader sleeps, so the writer stops in time.
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 4;
global seq, left, right;

fn writer {
    // odd while the record is being written
    seq.store(1);
    left.store(1);
    right.store(1);
    seq.store(2);
    seq.store(3);
    left.store(2);
    right.store(2);
    seq.store(4);
}

fn reader {
    local s, l, r;
    while (1) {
        s = wait(seq, 0, 2, 4);
        l = left.load();
        r = right.load();
        // a counter that has moved means a torn record: start again
        if (l != r) {
            l = seq.load();
            assert(l != s);
        }
    }
}
