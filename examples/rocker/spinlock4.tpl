// A test-and-test-and-set spin lock (Rudolph and Segall 1984; Anderson 1990) and four threads. Verdicts:
// Lahav and Margalit 2019, Figure 7.
// expect: robust ra=yes tso=yes
// expect: race ra=no
// expect: assertion sc=no
max_value 3;
global lck;
na cs;

fn p0 {
    local r;
    while (1) {
        // watch the lock until it looks free, then try to take it
        spin:
        r = lck.load();
        if (r != 0) goto spin;
        r = CAS(lck, 0, 1);
        if (r != 0) goto spin;

        // critical section
        cs.nastore(0);
        r = cs.naload();
        assert(r == 0);

        lck.store(0);
    }
}

fn p1 {
    local r;
    while (1) {
        spin:
        r = lck.load();
        if (r != 0) goto spin;
        r = CAS(lck, 0, 1);
        if (r != 0) goto spin;

        // critical section
        cs.nastore(1);
        r = cs.naload();
        assert(r == 1);

        lck.store(0);
    }
}

fn p2 {
    local r;
    while (1) {
        spin:
        r = lck.load();
        if (r != 0) goto spin;
        r = CAS(lck, 0, 1);
        if (r != 0) goto spin;

        // critical section
        cs.nastore(2);
        r = cs.naload();
        assert(r == 2);

        lck.store(0);
    }
}

fn p3 {
    local r;
    while (1) {
        spin:
        r = lck.load();
        if (r != 0) goto spin;
        r = CAS(lck, 0, 1);
        if (r != 0) goto spin;

        // critical section
        cs.nastore(3);
        r = cs.naload();
        assert(r == 3);

        lck.store(0);
    }
}
