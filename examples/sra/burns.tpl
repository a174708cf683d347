// The mutual exclusion of Burns with one bit per thread (Burns and Lynch, Mutual exclusion using indivisible
// reads and writes, 1980). Thread 1 gives way to thread 0.
// mutex: cs
// expect: verify sc=yes tso=no sra=no ra=no
// expect: robust ra=no
max_value 1;
global flag[2];

fn p0 {
    while (1) {
        flag[0].store(1);
        wait(flag[1], 0);
        cs: flag[0].store(0);
    }
}

fn p1 {
    local r;
    while (1) {
        flag[1].store(0);
        wait(flag[0], 0);
        flag[1].store(1);
        r = flag[0].load();
        if (r == 0) {
            cs: flag[1].store(0);
        }
    }
}
