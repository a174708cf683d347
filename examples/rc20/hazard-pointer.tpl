// Hazard pointers (Michael 2004) with SC fences: the reader announces what it will use and looks again, the
// reclaimer takes it out and looks at the announcements.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=no
// expect: assertion sc=no
max_value 2;
global pointer=1, hazard;
na node1=1, node2=1;

fn reader {
    local p, q, v;
    p = pointer.load(rlx);
    hazard.store(p, rlx);
    fence(seq_cst);
    q = pointer.load(acq);
    if (p == q) {
        if (p == 1) {
            v = node1.naload();
        } else {
            v = node2.naload();
        }
        assert(v == 1);
    }
    hazard.store(0, rel);
}

fn reclaimer {
    local h;
    pointer.store(2, rel);
    fence(seq_cst);
    h = hazard.load(acq);
    if (h != 1) {
        node1.nastore(0);            // freed
    }
}
