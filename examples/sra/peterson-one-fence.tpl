// Peterson's mutual exclusion with the one fence per thread that is enough on TSO. Under causal consistency
// it is not: the write of turn that is last in the order of writes need not be the one that its thread
// followed with the later fence.
// mutex: cs
// expect: verify sc=yes tso=yes sra=no ra=no
// expect: robust ra=no
max_value 1;
global flag[2], turn;

fn p[2] {
    local r;
    while (1) {
        flag[tid].store(1);
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
