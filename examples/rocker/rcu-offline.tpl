// User-level read-copy-update by quiescent states (Desnoyers, McKenney, Stern, Dagenais and Walpole,
// User-level implementations of read-copy update, 2012), with threads that go offline and return, and more
// than one updater. A thread's counter is 0 while it is offline; gp is odd, so never 0, and must not wrap
// around, as in the 64-bit implementation: hence each updater updates once. An updater goes offline to
// update, as synchronize_rcu does, so that two of them do not wait for each other. The two fences are the
// memory barriers of the implementation that matter here; the waits are blocking, as in rcu. Verdicts:
// Lahav and Margalit 2019, Figure 7.
// expect: robust ra=yes
// expect: race ra=no
// expect: assertion sc=no
max_value 5;
global current, gp=1, mutex, ctr1, ctr2, ctr3;
na node0=1, node1;

fn reader {
    local p, d, g;
    while (1) {
        // online: announce the grace period we start in, before reading anything
        g = gp.load();
        ctr1.store(g);
        fence;

        p = current.load();
        if (p == 0) {
            d = node0.naload();
        } else {
            d = node1.naload();
        }
        assert(d == 1);

        // quiescent state
        g = gp.load();
        ctr1.store(g);

        p = current.load();
        if (p == 0) {
            d = node0.naload();
        } else {
            d = node1.naload();
        }
        assert(d == 1);

        // offline: updaters need not wait for us
        ctr1.store(0);
    }
}

fn updater1 {
    local p, d, g;
    // online
    g = gp.load();
    ctr2.store(g);
    fence;

    p = current.load();
    if (p == 0) {
        d = node0.naload();
    } else {
        d = node1.naload();
    }
    assert(d == 1);

    // quiescent state
    g = gp.load();
    ctr2.store(g);

    p = current.load();
    if (p == 0) {
        d = node0.naload();
    } else {
        d = node1.naload();
    }
    assert(d == 1);

    // offline
    ctr2.store(0);

    // update, one thread at a time
    lock(mutex);
    p = current.load();
    if (p == 0) {
        node1.nastore(1);
    } else {
        node0.nastore(1);
    }
    current.store(1 - p);

    // synchronize: whoever is online must have been in a quiescent state since
    g = gp.load();
    g = g + 2;
    gp.store(g);
    fence;
    wait(ctr1, 0, g);
    wait(ctr3, 0, g);

    // nobody holds the old node any more: destroy it
    if (p == 0) {
        node0.nastore(0);
    } else {
        node1.nastore(0);
    }
    unlock(mutex);

    // online
    g = gp.load();
    ctr2.store(g);
    fence;

    p = current.load();
    if (p == 0) {
        d = node0.naload();
    } else {
        d = node1.naload();
    }
    assert(d == 1);

    // offline
    ctr2.store(0);
}

fn updater2 {
    local p, d, g;
    // online
    g = gp.load();
    ctr3.store(g);
    fence;

    p = current.load();
    if (p == 0) {
        d = node0.naload();
    } else {
        d = node1.naload();
    }
    assert(d == 1);

    // quiescent state
    g = gp.load();
    ctr3.store(g);

    p = current.load();
    if (p == 0) {
        d = node0.naload();
    } else {
        d = node1.naload();
    }
    assert(d == 1);

    // offline
    ctr3.store(0);

    // update
    lock(mutex);
    p = current.load();
    if (p == 0) {
        node1.nastore(1);
    } else {
        node0.nastore(1);
    }
    current.store(1 - p);

    // synchronize
    g = gp.load();
    g = g + 2;
    gp.store(g);
    fence;
    wait(ctr1, 0, g);
    wait(ctr2, 0, g);

    if (p == 0) {
        node0.nastore(0);
    } else {
        node1.nastore(0);
    }
    unlock(mutex);

    // online
    g = gp.load();
    ctr3.store(g);
    fence;

    p = current.load();
    if (p == 0) {
        d = node0.naload();
    } else {
        d = node1.naload();
    }
    assert(d == 1);

    // offline
    ctr3.store(0);
}
