// Hazard pointers (Michael 2004) without fences: the reader can miss that the node was taken out, and the
// reclaimer that it was announced.
// expect: verify sc=yes tso=no sra=no ra=no
// expect: robust ra=no
max_value 1;
global pointer=1, hazard, node=1;

fn reader {
    local r;
    while (1) {
        wait(pointer, 1);
        // announce the node, and make sure that it is still there
        hazard.store(1);
        r = pointer.load();
        if (r == 1) {
            r = node.load();
            assert(r == 1);
        }
        hazard.store(0);
    }
}

fn reclaimer {
    while (1) {
        // take the node out; when nobody has announced it, destroy it; then make a new one
        pointer.store(0);
        wait(hazard, 0);
        node.store(0);
        node.store(1);
        pointer.store(1);
    }
}
