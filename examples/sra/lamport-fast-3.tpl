// Lamport's fast mutual exclusion for three threads.
// mutex: cs
// expect: verify sc=yes tso=no sra=no ra=no
// expect: robust ra=no
max_value 3;
global x, y, b[3];

fn p[3] {
    local r;
    start:
    b[tid].store(1);
    x.store(tid + 1);
    r = y.load();
    if (r != 0) {
        // somebody is past the gate y: step back until it is open
        b[tid].store(0);
        wait(y, 0);
        goto start;
    }
    y.store(tid + 1);
    r = x.load();
    if (r != tid + 1) {
        // contention: once the others cannot write y any more, the last one to have written it goes on
        b[tid].store(0);
        wait(b[(tid + 1) % 3], 0);
        wait(b[(tid + 2) % 3], 0);
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
