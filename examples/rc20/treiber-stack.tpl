// Treiber's stack (1986) with indices for links, in C11: two threads push a node, one pops; each tries once.
// Release to push, acquire to pop.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=no
// expect: assertion sc=no
max_value 2;
global head, next1, next2;
na value1, value2;

fn push1 {
    local h, r;
    value1.nastore(1);
    h = head.load(rlx);
    next1.store(h, rlx);
    r = CAS(head, h, 1, rlx, rel);
    assume(r == h);                  // tried once
}

fn push2 {
    local h, r;
    value2.nastore(2);
    h = head.load(rlx);
    next2.store(h, rlx);
    r = CAS(head, h, 2, rlx, rel);
    assume(r == h);
}

fn pop {
    local h, n, r, v;
    h = wait(head, 1, 2, acq);
    if (h == 1) {
        n = next1.load(rlx);
        r = CAS(head, 1, n, acq, rlx);
        assume(r == 1);
        v = value1.naload();
        assert(v == 1);
    } else {
        n = next2.load(rlx);
        r = CAS(head, 2, n, acq, rlx);
        assume(r == 2);
        v = value2.naload();
        assert(v == 2);
    }
}
