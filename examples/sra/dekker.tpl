// Dekker's mutual exclusion (Dijkstra, Cooperating sequential processes, 1965), as designed for sequential
// consistency.
// mutex: cs
// expect: verify sc=yes tso=no sra=no ra=no
// expect: robust ra=no
max_value 1;
global flag[2], turn;

fn p[2] {
    local r;
    while (1) {
        flag[tid].store(1);
        look:
        r = flag[1 - tid].load();
        if (r == 1) {
            r = turn.load();
            if (r != tid) {
                // not our turn: withdraw until it is
                flag[tid].store(0);
                wait(turn, tid);
                flag[tid].store(1);
            }
            goto look;
        }
        cs: turn.store(1 - tid);
        flag[tid].store(0);
    }
}
