// Message passing from one thread to another, again and again, with a receipt.
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 1;
global data, turn[2];

fn first {
    local n;
    while (1) {
        n = 1 - n;
        data.store(n);
        turn[0].store(n);
        // the message has been read
        wait(turn[1], n);
    }
}

fn last {
    local n, r;
    while (1) {
        n = 1 - n;
        wait(turn[0], n);
        r = data.load();
        assert(r == n);
        turn[1].store(n);
    }
}
