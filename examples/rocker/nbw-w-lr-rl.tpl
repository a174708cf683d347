// The non-blocking write protocol (Kopetz and Reisinger, The non-blocking write protocol NBW, 1993): one
// writer of a record of two halves, which never waits, and three readers, two of which read the left half
// first and one the right half. A reader must not sleep while the version number goes once around, so the
// writer stops before it does. Verdicts: Lahav and Margalit 2019, Figure 7.
// expect: robust ra=yes tso=yes
// expect: assertion sc=no
max_value 7;
global version, left, right;

fn w {
    local v;
    while (1) {
        // used up: the writer ends
        assume(v < 6);
        // odd while the record is being written
        version.store(v + 1);
        left.store(v / 2 + 1);
        right.store(v / 2 + 1);
        version.store(v + 2);
        v = v + 2;
    }
}

fn lr {
    local v, l, r, now;
    while (1) {
        v = version.load();
        if (v % 2 == 0) {
            l = left.load();
            r = right.load();
            // a version that has moved means a torn record: start again
            now = version.load();
            if (now == v) {
                assert(l == r);
            }
        }
    }
}

fn rl {
    local v, l, r, now;
    while (1) {
        v = version.load();
        if (v % 2 == 0) {
            r = right.load();
            l = left.load();
            now = version.load();
            if (now == v) {
                assert(l == r);
            }
        }
    }
}

fn lr2 {
    local v, l, r, now;
    while (1) {
        v = version.load();
        if (v % 2 == 0) {
            l = left.load();
            r = right.load();
            now = version.load();
            if (now == v) {
                assert(l == r);
            }
        }
    }
}
