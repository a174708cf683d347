// Lamport's fast mutual exclusion for two threads, with fences after all writes on the way in.
// mutex: cs
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 2;
global x, y, b[2];

fn p[2] {
    local r;
    start:
    b[tid].store(1);
    fence;
    x.store(tid + 1);
    fence;
    r = y.load();
    if (r != 0) {
        // somebody is past the gate y: step back until it is open
        b[tid].store(0);
        wait(y, 0);
        goto start;
    }
    y.store(tid + 1);
    fence;
    r = x.load();
    if (r != tid + 1) {
        // contention: once the other cannot write y any more, the last one to have written it goes on
        b[tid].store(0);
        wait(b[1 - tid], 0);
        r = y.load();
        if (r != tid + 1) {
            wait(y, 0);
            goto start;
        }
    }
    cs: y.store(0);
    b[tid].store(0);
    goto start;
}
