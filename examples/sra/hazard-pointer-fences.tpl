// Hazard pointers with a fence between announcing and looking again, and between taking out and looking at
// the announcement.
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 1;
global pointer=1, hazard, node=1;

fn reader {
    local r;
    while (1) {
        wait(pointer, 1);
        // announce the node, and make sure that it is still there
        hazard.store(1);
        fence;
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
        fence;
        wait(hazard, 0);
        node.store(0);
        node.store(1);
        pointer.store(1);
    }
}
