// Peterson's mutual exclusion with an exchange in place of the write of turn (Vyukov 2008): the one that exchanges
// second knows all that the first one knew.
// mutex: cs
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 1;
global flag[2], turn;

fn p[2] {
    local r;
    while (1) {
        flag[tid].store(1);
        exchange(turn, 1 - tid);
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
