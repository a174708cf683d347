// Lamport's fast mutual exclusion algorithm (Lamport, A fast mutual exclusion algorithm, 1987, Algorithm
// 2) for two threads, with the two fences per thread that TSO needs: between writing x and reading y, and
// between writing y and reading x. Verdicts: Lahav and Margalit 2019, Figure 7.
// expect: robust ra=no tso=yes
// expect: race ra=no
// expect: assertion sc=no
max_value 2;
global x, y, b1, b2;
na cs;

fn p1 {
    local r;
    start:
    b1.store(1);
    x.store(1);
    fence;
    r = y.load();
    if (r != 0) {
        // somebody is past the gate y: step back until it is open
        b1.store(0);
        r = y.load();
        while (r != 0) {
            r = y.load();
        }
        goto start;
    }
    y.store(1);
    fence;
    r = x.load();
    if (r != 1) {
        // contention: let all others who may still write y do so; the last one to write it goes on
        b1.store(0);
        r = b2.load();
        while (r != 0) {
            r = b2.load();
        }
        r = y.load();
        if (r != 1) {
            r = y.load();
            while (r != 0) {
                r = y.load();
            }
            goto start;
        }
    }

    // critical section
    cs.nastore(1);
    r = cs.naload();
    assert(r == 1);

    y.store(0);
    b1.store(0);
    goto start;
}

fn p2 {
    local r;
    start:
    b2.store(1);
    x.store(2);
    fence;
    r = y.load();
    if (r != 0) {
        b2.store(0);
        r = y.load();
        while (r != 0) {
            r = y.load();
        }
        goto start;
    }
    y.store(2);
    fence;
    r = x.load();
    if (r != 2) {
        b2.store(0);
        r = b1.load();
        while (r != 0) {
            r = b1.load();
        }
        r = y.load();
        if (r != 2) {
            r = y.load();
            while (r != 0) {
                r = y.load();
            }
            goto start;
        }
    }

    // critical section
    cs.nastore(2);
    r = cs.naload();
    assert(r == 2);

    y.store(0);
    b2.store(0);
    goto start;
}
