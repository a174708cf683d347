// The queue lock of Mellor-Crummey and Scott and three threads.
// mutex: cs
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 3;
global tail, next[3], blocked[3];

fn p[3] {
    local r;
    while (1) {
        // 0 is nobody; thread t is t + 1
        next[tid].store(0);
        r = exchange(tail, tid + 1);
        if (r != 0) {
            // stand in the queue behind r, who hands over
            blocked[tid].store(1);
            next[r - 1].store(tid + 1);
            wait(blocked[tid], 0);
        }
        cs: r = CAS(tail, tid + 1, 0);
        if (r != tid + 1) {
            // somebody has come in the meantime
            r = wait(next[tid], 1, 2, 3);
            blocked[r - 1].store(0);
        }
    }
}
