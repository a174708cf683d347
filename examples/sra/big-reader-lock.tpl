// A big-reader lock: each reader has a flag of its own and does not disturb the others; the writer looks at
// all of them. Without fences the writer and a reader can miss each other.
// bad: writer@cs && (reader[0]@cs || reader[1]@cs)
// expect: verify sc=yes tso=no sra=no ra=no
// expect: robust ra=no
max_value 1;
global writing, reading[2];

fn writer {
    while (1) {
        writing.store(1);
        wait(reading[0], 0);
        wait(reading[1], 0);
        cs: writing.store(0);
    }
}

fn reader[2] {
    local r;
    while (1) {
        reading[tid].store(1);
        r = writing.load();
        if (r == 0) {
            cs: reading[tid].store(0);
        } else {
            reading[tid].store(0);
            wait(writing, 0);
        }
    }
}
