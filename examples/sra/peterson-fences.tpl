// Peterson's mutual exclusion with a fence after each of the two writes, so that nobody writes turn without
// knowing of a turn that the other has relied on.
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
        turn.store(1 - tid);
        fence;
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
