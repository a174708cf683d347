// Peterson's mutual exclusion (Peterson, Myths about the mutual exclusion problem, 1981), as designed for
// sequential consistency. Each thread can miss the other's flag.
// mutex: cs
// expect: verify sc=yes tso=no sra=no ra=no
// expect: robust ra=no
max_value 1;
global flag[2], turn;

fn p[2] {
    local r;
    while (1) {
        flag[tid].store(1);
        turn.store(1 - tid);
        // wait while the other is interested and has the turn
        spin:
        r = flag[1 - tid].load();
        if (r == 1) {
            r = turn.load();
            if (r == 1 - tid) goto spin;
        }
        cs: flag[tid].store(0);
    }
}
