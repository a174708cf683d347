// Message passing through a third thread, whose first thread raises its flag before the message is there.
// expect: verify sc=no tso=no sra=no ra=no
max_value 2;
global data, turn[3];

fn first {
    local n;
    while (1) {
        n = 1 - n;
        turn[0].store(n);
        data.store(n);
        // the last one has read the message
        wait(turn[2], n);
    }
}

fn relay {
    local n;
    while (1) {
        n = 1 - n;
        wait(turn[0], n);
        turn[1].store(n);
    }
}

fn last {
    local n, r;
    while (1) {
        n = 1 - n;
        wait(turn[1], n);
        r = data.load();
        assert(r == n);
        turn[2].store(n);
    }
}
