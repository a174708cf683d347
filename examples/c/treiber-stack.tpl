// Treiber's stack as treiber-stack.c has it, with indices for pointers: three threads push a node of their
// own and pop one. No node is used twice.
// expect: robust rc20=yes
// expect: assertion sc=no
max_value 3;
global head, next[4], value[4];

fn worker[3] {
    local h, n, r;
    value[tid + 1].store(1);
    h = head.load(acq);
    push: next[tid + 1].store(h);
    r = CAS(head, h, tid + 1, acq, rel);
    if (r != h) { h = r; goto push; }

    h = head.load(acq);
    pop: if (h != 0) {
        n = next[h].load();
        r = CAS(head, h, n, acq, rel);
        if (r != h) { h = r; goto pop; }
        r = value[h].load();
        assert(r == 1);
    }
}
