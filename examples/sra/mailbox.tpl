// One slot for messages 0, 1, 0, 1 …, full or empty. The producer polls until the slot is empty, the
// consumer until it is full, both write the same location, but never both at once.
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 1;
global full, slot;

fn producer {
    local n;
    while (1) {
        wait(full, 0);
        slot.store(n);
        full.store(1);
        n = 1 - n;
    }
}

fn consumer {
    local n, r;
    while (1) {
        wait(full, 1);
        r = slot.load();
        assert(r == n);
        full.store(0);
        n = 1 - n;
    }
}
