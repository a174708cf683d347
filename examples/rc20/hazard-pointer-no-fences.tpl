// Hazard pointers as in hazard-pointer.tpl without the fences: a node is freed while it is in use.
// expect: robust ra=no rc20=no
// expect: race ra=no rc20=no
// expect: assertion sc=no
max_value 2;
global pointer=1, hazard;
na node1=1, node2=1;

fn reader {
    local p, q, v;
    p = pointer.load(rlx);
    hazard.store(p, rlx);
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
    h = hazard.load(acq);
    if (h != 1) {
        node1.nastore(0);            // freed
    }
}
