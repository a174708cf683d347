// Simpson's four-slot buffer with a fence after each write of what the other thread goes by.
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 3;
global latest, reading, slot[2], cell[4]={1, 1, 1, 1};

fn writer {
    local p, c;
    while (1) {
        // the pair that is not being read, and of it the cell that was not written last
        p = reading.load();
        p = 1 - p;
        c = slot[p].load();
        c = 2 * p + 1 - c;
        cell[c].store(0);
        cell[c].store(1);
        slot[p].store(c - 2 * p);
        fence;
        latest.store(p);
        fence;
    }
}

fn reader {
    local p, r;
    while (1) {
        p = latest.load();
        reading.store(p);
        fence;
        r = slot[p].load();
        r = cell[2 * p + r].load();
        assert(r == 1);
    }
}
