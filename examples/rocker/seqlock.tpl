// A sequence lock with two writers and two readers (Linux; Boehm, Can seqlocks get along with programming
// language memory models?, 2012). All accesses to the data are atomic, and no fence is needed. A reader
// must not sleep while the counter goes once around, so the writers stop before it does. Verdicts: Lahav
// and Margalit 2019, Figure 7.
// expect: robust ra=yes tso=yes
// expect: assertion sc=no
max_value 7;
global seq, data1, data2;

fn writer1 {
    local s, r;
    while (1) {
        // an odd counter is the lock
        s = seq.load();
        if (s % 2 == 0) {
            // used up: the writer ends
            assume(s < 6);
            r = CAS(seq, s, s + 1);
            if (r == s) {
                data1.store(s / 2 + 1);
                data2.store(s / 2 + 1);
                seq.store(s + 2);
            }
        }
    }
}

fn writer2 {
    local s, r;
    while (1) {
        s = seq.load();
        if (s % 2 == 0) {
            assume(s < 6);
            r = CAS(seq, s, s + 1);
            if (r == s) {
                data1.store(s / 2 + 1);
                data2.store(s / 2 + 1);
                seq.store(s + 2);
            }
        }
    }
}

fn reader1 {
    local s, d1, d2, r;
    while (1) {
        s = seq.load();
        if (s % 2 == 0) {
            d1 = data1.load();
            d2 = data2.load();
            // what was read is a snapshot unless the counter has moved; if it has, start again
            r = seq.load();
            if (r == s) {
                assert(d1 == d2);
            }
        }
    }
}

fn reader2 {
    local s, d1, d2, r;
    while (1) {
        s = seq.load();
        if (s % 2 == 0) {
            d1 = data1.load();
            d2 = data2.load();
            r = seq.load();
            if (r == s) {
                assert(d1 == d2);
            }
        }
    }
}
