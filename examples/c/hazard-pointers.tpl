// Hazard pointers as hazard-pointers.cpp has them: a reader and a writer with three nodes, again and again. A
// node that is free holds 0. With two readers the answer is the same, but takes minutes.
// expect: robust rc20=yes
// expect: assertion sc=no
max_value 3;
global pointer, hazard=3, node[3]={1, 0, 0};

fn reader {
    local p, q, v;
    while (1) {
        p = pointer.load(acq);
        again:
        hazard.store(p, rel);
        fence(seq_cst);
        q = pointer.load(acq);
        if (q != p) { p = q; goto again; }
        v = node[p].load();
        assert(v == 1);
        hazard.store(3, rel);
    }
}

fn writer {
    local p, old, h, g;
    while (1) {
        old = p;
        p = (p + 1) % 3;
        node[p].store(1);
        pointer.store(p, rel);
        fence(seq_cst);
        wait(hazard, (old + 1) & 3, (old + 2) & 3, (old + 3) & 3, acq);
        node[old].store(0);
    }
}
