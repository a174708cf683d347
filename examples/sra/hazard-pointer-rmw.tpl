// Hazard pointers with read-modify-writes of the pointer: that of the reader which still finds the node
// comes before the one that takes it out, whose thread then knows of the announcement.
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
        r = FADD(pointer, 0);
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
        exchange(pointer, 0);
        wait(hazard, 0);
        node.store(0);
        node.store(1);
        exchange(pointer, 1);
    }
}
