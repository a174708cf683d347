// User-level read-copy-update, by quiescent states (Desnoyers, McKenney, Stern, Dagenais and Walpole,
// User-level implementations of read-copy update, 2012): one writer, three readers, a grace-period counter
// gp and each reader's copy of it. No fence is needed. The waits are blocking: a busy loop would let the
// writer see stale copies, which is harmless but not robust. gp wraps around; no reader is ever more than
// one grace period behind. Verdicts: Lahav and Margalit 2019, Figure 7.
// expect: robust ra=yes
// expect: race ra=no
// expect: assertion sc=no
max_value 3;
global current, gp, seen1, seen2, seen3;
na node0=1, node1;

fn writer {
    local p, g;
    while (1) {
        // fill the free node and publish it
        if (p == 0) {
            node1.nastore(1);
        } else {
            node0.nastore(1);
        }
        current.store(1 - p);

        // synchronize: start a grace period, wait until every reader has been in a quiescent state since
        g = g + 1;
        gp.store(g);
        wait(seen1, g);
        wait(seen2, g);
        wait(seen3, g);

        // nobody holds the old node any more: destroy it
        if (p == 0) {
            node0.nastore(0);
        } else {
            node1.nastore(0);
        }
        p = 1 - p;
    }
}

fn reader1 {
    local p, d, g;
    while (1) {
        // read-side critical section: nothing marks it but the quiescent states around it
        p = current.load();
        if (p == 0) {
            d = node0.naload();
        } else {
            d = node1.naload();
        }
        assert(d == 1);

        // quiescent state
        g = gp.load();
        seen1.store(g);
    }
}

fn reader2 {
    local p, d, g;
    while (1) {
        p = current.load();
        if (p == 0) {
            d = node0.naload();
        } else {
            d = node1.naload();
        }
        assert(d == 1);

        // quiescent state
        g = gp.load();
        seen2.store(g);
    }
}

fn reader3 {
    local p, d, g;
    while (1) {
        p = current.load();
        if (p == 0) {
            d = node0.naload();
        } else {
            d = node1.naload();
        }
        assert(d == 1);

        // quiescent state
        g = gp.load();
        seen3.store(g);
    }
}
