// A lock with hints: a thread that sees that another one wants the lock steps back and tries again. The
// hints are as weak as Dekker's flags; what excludes is the compare-and-swap.
// mutex: cs
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=no
max_value 1;
global wants[2], lck;

fn p[2] {
    local r;
    while (1) {
        wants[tid].store(1);
        r = wants[1 - tid].load();
        if (r == 1) goto back;
        r = CAS(lck, 0, 1);
        if (r == 0) {
            cs: lck.store(0);
        }
        back: wants[tid].store(0);
    }
}
