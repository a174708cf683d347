// Lamport's fast mutual exclusion for three threads, with read-modify-writes for the accesses to the two
// gates.
// mutex: cs
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 3;
global x, y, b[3];

fn p[3] {
    local r;
    start:
    b[tid].store(1);
    exchange(x, tid + 1);
    r = FADD(y, 0);
    if (r != 0) {
        // somebody is past the gate y: step back until it is open
        b[tid].store(0);
        wait(y, 0);
        goto start;
    }
    exchange(y, tid + 1);
    r = FADD(x, 0);
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
    cs: exchange(y, 0);
    b[tid].store(0);
    goto start;
}
