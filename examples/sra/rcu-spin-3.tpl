// User-level read-copy-update by quiescent states, one writer that spins and two readers: safe, but not
// robust.
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=no
max_value 1;
global current, gp, seen[2], node[2]={1, 0};

fn writer {
    local p, g, r;
    while (1) {
        // fill the free node and publish it
        node[1 - p].store(1);
        current.store(1 - p);

        // synchronize: a new grace period, which every reader must have seen
        g = 1 - g;
        gp.store(g);
        r = 1 - g;
        while (r != g) {
            r = seen[0].load();
        }
        r = 1 - g;
        while (r != g) {
            r = seen[1].load();
        }

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
