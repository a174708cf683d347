// Lamport's fast mutual exclusion algorithm (Lamport, A fast mutual exclusion algorithm, 1987, Algorithm
// 2) for three threads, made robust by read-modify-writes: x and y are written by exchanges, and read by
// FADD(., 0) where one has to be ordered after a write of the other. The fences of lamport2-ra would not
// do for three threads. Its loops wait with blocking instructions, without which stale values could keep
// them going round: harmless, but not robust. Verdicts: Lahav and Margalit 2019, Figure 7.
// expect: robust ra=yes
// expect: race ra=no
// expect: assertion sc=no
max_value 3;
global x, y, b1, b2, b3;
na cs;

fn p1 {
    local r;
    start:
    b1.store(1);
    r = exchange(x, 1);
    r = FADD(y, 0);
    if (r != 0) {
        // somebody is past the gate y: step back until it is open
        b1.store(0);
        wait(y, 0);
        goto start;
    }
    r = exchange(y, 1);
    r = FADD(x, 0);
    if (r != 1) {
        // contention: let all others who may still write y do so; the last one to write it goes on
        b1.store(0);
        wait(b2, 0);
        wait(b3, 0);
        r = y.load();
        if (r != 1) {
            wait(y, 0);
            goto start;
        }
    }

    // critical section
    cs.nastore(1);
    r = cs.naload();
    assert(r == 1);

    r = exchange(y, 0);
    b1.store(0);
    goto start;
}

fn p2 {
    local r;
    start:
    b2.store(1);
    r = exchange(x, 2);
    r = FADD(y, 0);
    if (r != 0) {
        b2.store(0);
        wait(y, 0);
        goto start;
    }
    r = exchange(y, 2);
    r = FADD(x, 0);
    if (r != 2) {
        b2.store(0);
        wait(b1, 0);
        wait(b3, 0);
        r = y.load();
        if (r != 2) {
            wait(y, 0);
            goto start;
        }
    }

    // critical section
    cs.nastore(2);
    r = cs.naload();
    assert(r == 2);

    r = exchange(y, 0);
    b2.store(0);
    goto start;
}

fn p3 {
    local r;
    start:
    b3.store(1);
    r = exchange(x, 3);
    r = FADD(y, 0);
    if (r != 0) {
        b3.store(0);
        wait(y, 0);
        goto start;
    }
    r = exchange(y, 3);
    r = FADD(x, 0);
    if (r != 3) {
        b3.store(0);
        wait(b1, 0);
        wait(b2, 0);
        r = y.load();
        if (r != 3) {
            wait(y, 0);
            goto start;
        }
    }

    // critical section
    cs.nastore(3);
    r = cs.naload();
    assert(r == 3);

    r = exchange(y, 0);
    b3.store(0);
    goto start;
}
