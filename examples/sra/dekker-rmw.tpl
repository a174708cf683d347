// Dekker's mutual exclusion with read-modify-writes for all accesses to the flags: of two that are made on
// one flag, the later knows what the earlier knew.
// mutex: cs
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 1;
global flag[2], turn;

fn p[2] {
    local r;
    while (1) {
        exchange(flag[tid], 1);
        look:
        r = FADD(flag[1 - tid], 0);
        if (r == 1) {
            r = turn.load();
            if (r != tid) {
                // not our turn: withdraw until it is
                exchange(flag[tid], 0);
                wait(turn, tid);
                exchange(flag[tid], 1);
            }
            goto look;
        }
        cs: turn.store(1 - tid);
        exchange(flag[tid], 0);
    }
}
