// Dekker's mutual exclusion with a fence between raising one's flag and looking at the other's.
// mutex: cs
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 1;
global flag[2], turn;

fn p[2] {
    local r;
    while (1) {
        flag[tid].store(1);
        fence;
        look:
        r = flag[1 - tid].load();
        if (r == 1) {
            r = turn.load();
            if (r != tid) {
                // not our turn: withdraw until it is
                flag[tid].store(0);
                wait(turn, tid);
                flag[tid].store(1);
                fence;
            }
            goto look;
        }
        cs: turn.store(1 - tid);
        flag[tid].store(0);
    }
}
