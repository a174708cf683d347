// Dekker's mutual exclusion as dekker.c has it, entered again and again.
// expect: robust rc20=yes
// expect: assertion sc=no
max_value 1;
global flag[2], turn, owner;

fn worker[2] {
    local r;
    while (1) {
        flag[tid].store(1, rel);
        fence(seq_cst);
        r = flag[1 - tid].load(acq);
        if (r) {
            r = turn.load();
            if (r != tid) {
                flag[tid].store(0);
                wait(turn, tid, acq);
                flag[tid].store(1);
                fence(seq_cst);
            }
            wait(flag[1 - tid], 0, acq);
        }
        owner.store(tid);
        r = owner.load();
        assert(r == tid);
        turn.store(1 - tid);
        flag[tid].store(0, rel);
    }
}
