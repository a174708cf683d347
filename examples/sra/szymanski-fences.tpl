// Szymanski's mutual exclusion for two threads, with a fence after each write but the last.
// mutex: cs
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 4;
global flag[2];

fn p0 {
    local r;
    while (1) {
        // 1: at the door; 3: in the doorway; 2: waits for others to come in; 4: the door is closed
        flag[0].store(1);
        fence;
        wait(flag[1], 0, 1, 2);
        flag[0].store(3);
        fence;
        r = flag[1].load();
        if (r == 1) {
            flag[0].store(2);
            fence;
            wait(flag[1], 4);
        }
        flag[0].store(4);
        fence;
        // the critical section, then everybody who came in must know that the door is closed
        cs: wait(flag[1], 0, 1, 4);
        flag[0].store(0);
    }
}

fn p1 {
    local r;
    while (1) {
        flag[1].store(1);
        fence;
        wait(flag[0], 0, 1, 2);
        flag[1].store(3);
        fence;
        r = flag[0].load();
        if (r == 1) {
            flag[1].store(2);
            fence;
            wait(flag[0], 4);
        }
        flag[1].store(4);
        fence;
        // thread 0 goes first
        wait(flag[0], 0, 1);
        cs: flag[1].store(0);
    }
}
