// A big-reader lock with a fence between raising one's own flag and looking at the others'.
// bad: writer@cs && (reader[0]@cs || reader[1]@cs)
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 1;
global writing, reading[2];

fn writer {
    while (1) {
        writing.store(1);
        fence;
        wait(reading[0], 0);
        wait(reading[1], 0);
        cs: writing.store(0);
    }
}

fn reader[2] {
    local r;
    while (1) {
        reading[tid].store(1);
        fence;
        r = writing.load();
        if (r == 0) {
            cs: reading[tid].store(0);
        } else {
            reading[tid].store(0);
            wait(writing, 0);
        }
    }
}
