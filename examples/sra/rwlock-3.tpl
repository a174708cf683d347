// A lock for one writer or up to two readers in one location: the number of readers, or 3 for the writer.
// bad: writer@cs && (reader[0]@cs || reader[1]@cs)
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 3;
global lck;

fn writer {
    while (1) {
        BCAS(lck, 0, 3);
        cs: lck.store(0);
    }
}

fn reader[2] {
    local r, n;
    while (1) {
        n = wait(lck, 0, 1);
        r = CAS(lck, n, n + 1);
        if (r == n) {
            cs: FADD(lck, 3);    // less one
        }
    }
}
