// Szymanski's mutual exclusion (Szymanski, A simple solution to Lamport's concurrent programming problem
// with linear wait, 1988) for two threads.
// mutex: cs
// expect: verify sc=yes tso=no sra=no ra=no
// expect: robust ra=no
max_value 4;
global flag[2];

fn p0 {
    local r;
    while (1) {
        // 1: at the door; 3: in the doorway; 2: waits for others to come in; 4: the door is closed
        flag[0].store(1);
        wait(flag[1], 0, 1, 2);
        flag[0].store(3);
        r = flag[1].load();
        if (r == 1) {
            flag[0].store(2);
            wait(flag[1], 4);
        }
        flag[0].store(4);
        // the critical section, then everybody who came in must know that the door is closed
        cs: wait(flag[1], 0, 1, 4);
        flag[0].store(0);
    }
}

fn p1 {
    local r;
    while (1) {
        flag[1].store(1);
        wait(flag[0], 0, 1, 2);
        flag[1].store(3);
        r = flag[0].load();
        if (r == 1) {
            flag[1].store(2);
            wait(flag[0], 4);
        }
        flag[1].store(4);
        // thread 0 goes first
        wait(flag[0], 0, 1);
        cs: flag[1].store(0);
    }
}
