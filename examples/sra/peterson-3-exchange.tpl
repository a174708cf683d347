// Peterson's mutual exclusion for three threads, with exchanges in place of the writes that say who came
// last. Levels can be seen late, which keeps a thread waiting: safe, but not robust.
// mutex: cs
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=no
max_value 3;
global level[3], last[2];

fn p[3] {
    local r;
    while (1) {
        level[tid].store(1);
        exchange(last[0], tid);
        // on each level the last to arrive waits until nobody else is there or above
        first:
        r = last[0].load();
        if (r == tid) {
            r = level[(tid + 1) % 3].load();
            if (r >= 1) goto first;
            r = level[(tid + 2) % 3].load();
            if (r >= 1) goto first;
        }

        level[tid].store(2);
        exchange(last[1], tid);
        second:
        r = last[1].load();
        if (r == tid) {
            r = level[(tid + 1) % 3].load();
            if (r == 2) goto second;
            r = level[(tid + 2) % 3].load();
            if (r == 2) goto second;
        }
        cs: level[tid].store(0);
    }
}
