// The mutual exclusion of Burns with one bit per thread, for three threads.
// mutex: cs
// expect: verify sc=yes tso=no sra=no ra=no
// expect: robust ra=no
max_value 3;
global flag[3];

fn p0 {
    while (1) {
        flag[0].store(1);
        wait(flag[1], 0);
        wait(flag[2], 0);
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
            wait(flag[2], 0);
            cs: flag[1].store(0);
        }
    }
}

fn p2 {
    local r;
    while (1) {
        flag[2].store(0);
        wait(flag[0], 0);
        wait(flag[1], 0);
        flag[2].store(1);
        r = flag[0].load();
        if (r == 0) {
            r = flag[1].load();
            if (r == 0) {
                cs: flag[2].store(0);
            }
        }
    }
}
