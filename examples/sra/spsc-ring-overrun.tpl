// A ring buffer with two slots whose producer does not look whether there is room.
// expect: verify sc=no tso=no sra=no ra=no
max_value 3;
global tail, slot[2];

fn producer {
    local n;
    while (1) {
        slot[n % 2].store(n);
        n = n + 1;
        tail.store(n);
    }
}

fn consumer {
    local n, r;
    while (1) {
        empty:
        r = tail.load();
        if (r == n) goto empty;
        r = slot[n % 2].load();
        assert(r == n);
        n = n + 1;
    }
}
