// A test-and-test-and-set lock (Rudolph and Segall 1984) and two threads.
// mutex: cs
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 1;
global lck;

fn p[2] {
    local r;
    while (1) {
        // watch the lock until it looks free, then try to take it
        spin:
        r = lck.load();
        if (r == 1) goto spin;
        r = CAS(lck, 0, 1);
        if (r == 1) goto spin;
        cs: lck.store(0);
    }
}
