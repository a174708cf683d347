// The read-copy-update of rcu.c, by quiescent states: a writer and two readers, again and again. Nodes are
// atomic cells, so that a node that is reused too early shows.
// expect: robust rc20=yes
// expect: assertion sc=no
max_value 3;
global current, period, seen[2], node[2]=1;

fn writer {
    local p, g;
    while (1) {
        node[1 - p].store(1);
        current.store(1 - p, rel);
        g = g + 1;
        period.store(g, rel);
        wait(seen[0], g, acq);
        wait(seen[1], g, acq);
        node[p].store(0);
        p = 1 - p;
    }
}

fn reader[2] {
    local p, d, g;
    while (1) {
        p = current.load(acq);
        d = node[p].load();
        assert(d == 1);
        g = period.load(acq);
        seen[tid].store(g, rel);
    }
}
