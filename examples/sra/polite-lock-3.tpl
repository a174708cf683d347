// A lock with hints for three threads: safe, not robust.
// mutex: cs
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=no
max_value 3;
global wants[3], lck;

fn p[3] {
    local r;
    while (1) {
        wants[tid].store(1);
        r = wants[(tid + 1) % 3].load();
        if (r == 1) goto back;
        r = wants[(tid + 2) % 3].load();
        if (r == 1) goto back;
        r = CAS(lck, 0, 1);
        if (r == 0) {
            cs: lck.store(0);
        }
        back: wants[tid].store(0);
    }
}
