// Peterson's mutual exclusion as peterson.c has it, entered again and again. The loop that waits for either
// of two things cannot be a blocking instruction, so each of its rounds must be robust too.
// expect: robust rc20=yes
// expect: assertion sc=no
max_value 1;
global flag[2], turn, owner;

fn worker[2] {
    local f, t, r;
    while (1) {
        flag[tid].store(1, rel);
        fence(seq_cst);
        turn.store(1 - tid, rel);
        fence(seq_cst);
        f = flag[1 - tid].load(acq);
        t = turn.load(acq);
        while (f && t != tid) {
            f = flag[1 - tid].load(acq);
            t = turn.load(acq);
        }
        owner.store(tid);
        r = owner.load();
        assert(r == tid);
        flag[tid].store(0, rel);
    }
}
