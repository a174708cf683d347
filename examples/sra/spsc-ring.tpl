// A ring buffer with two slots for one producer and one consumer that poll each other's index (Lamport
// 1983). Element number n is the value n. Indices are modulo 4, so that full and empty differ. Both can see
// the index of the other late: harmless, but not robust.
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=no
max_value 3;
global head, tail, slot[2];

fn producer {
    local n, r;
    while (1) {
        // full if head is two behind
        full:
        r = head.load();
        if (r == (n ^ 2)) goto full;
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
        head.store(n);
    }
}
