// User-level read-copy-update by quiescent states (Desnoyers and others, User-level implementations of
// read-copy update, 2012): one writer, one reader. One bit is enough for the grace period, since the reader
// is never more than one behind.
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 1;
global current, gp, seen, node[2]={1, 0};

fn writer {
    local p, g;
    while (1) {
        // fill the free node and publish it
        node[1 - p].store(1);
        current.store(1 - p);

        // synchronize: a new grace period, which every reader must have seen
        g = 1 - g;
        gp.store(g);
        wait(seen, g);

        // nobody holds the old node any more: destroy it
        node[p].store(0);
        p = 1 - p;
    }
}

fn reader {
    local r;
    while (1) {
        // read-side critical section: nothing marks it but the quiescent states around it
        r = current.load();
        r = node[r].load();
        assert(r == 1);

        // quiescent state
        r = gp.load();
        seen.store(r);
    }
}
