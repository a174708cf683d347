// Simpson's four-slot buffer (Four-slot fully asynchronous communication mechanism, 1990): writer and reader
// never wait, and never access the same of the four cells at once. A cell that is being written holds 0.
// Designed for sequential consistency.
// expect: verify sc=yes tso=no sra=no ra=no
// expect: robust ra=no
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
        latest.store(p);
    }
}

fn reader {
    local p, r;
    while (1) {
        p = latest.load();
        reading.store(p);
        r = slot[p].load();
        r = cell[2 * p + r].load();
        assert(r == 1);
    }
}
