// User-level read-copy-update, one writer and two readers, of which the writer waits for one only.
// expect: verify sc=no tso=no sra=no ra=no
max_value 1;
global current, gp, seen[2], node[2]={1, 0};

fn writer {
    local p, g;
    while (1) {
        // fill the free node and publish it
        node[1 - p].store(1);
        current.store(1 - p);

        // synchronize: a new grace period, which every reader must have seen
        g = 1 - g;
        gp.store(g);
        wait(seen[0], g);

        // nobody holds the old node any more: destroy it
        node[p].store(0);
        p = 1 - p;
    }
}

fn reader[2] {
    local r;
    while (1) {
        // read-side critical section: nothing marks it but the quiescent states around it
        r = current.load();
        r = node[r].load();
        assert(r == 1);

        // quiescent state
        r = gp.load();
        seen[tid].store(r);
    }
}
