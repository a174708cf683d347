// Message passing along four threads, again and again.
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 3;
global data, turn[4];

fn first {
    local n;
    while (1) {
        n = 1 - n;
        data.store(n);
        turn[0].store(n);
        // the last one has read the message
        wait(turn[3], n);
    }
}

fn relay1 {
    local n;
    while (1) {
        n = 1 - n;
        wait(turn[0], n);
        turn[1].store(n);
    }
}

fn relay2 {
    local n;
    while (1) {
        n = 1 - n;
        wait(turn[1], n);
        turn[2].store(n);
    }
}

fn last {
    local n, r;
    while (1) {
        n = 1 - n;
        wait(turn[2], n);
        r = data.load();
        assert(r == n);
        turn[3].store(n);
    }
}
