// A reader-writer lock with a bounded count of readers; 3 says that a writer has it.
// expect: robust ra=yes rc20=yes tso=yes
max_value 3;
global count;
na data;

fn reader[*] {
    local n, seen, r;
    while (1) {
        n = count.load(rlx);
        if (n < 2) {
            seen = CAS(count, n, n + 1, acq, rlx);
            if (seen == n) {
                r = data.naload();
                n = FADD(count, 3, rel);
            }
        }
    }
}

fn writer[*] {
    local r;
    while (1) {
        BCAS(count, 0, 3, acq, rlx);
        r = data.naload();
        data.nastore(1 - r);
        count.store(0, rel);
    }
}
