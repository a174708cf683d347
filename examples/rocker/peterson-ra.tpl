// Peterson's mutual exclusion algorithm (Peterson, Myths about the mutual exclusion problem, 1981), with
// two fences per thread: that of TSO, and one between the two writes, so that no thread writes turn
// without knowing of a turn that the other has already relied on. Verdicts: Lahav and Margalit 2019,
// Figure 7.
// expect: robust ra=yes tso=yes
// expect: race ra=no
// expect: assertion sc=no
max_value 1;
global flag0, flag1, turn;
na cs;

fn p0 {
    local other, t, r;
    while (1) {
        flag0.store(1);
        fence;
        turn.store(1);
        fence;
        // wait while the other is interested and has the turn
        spin:
        other = flag1.load();
        if (other == 1) {
            t = turn.load();
            if (t == 1) goto spin;
        }

        // critical section
        cs.nastore(0);
        r = cs.naload();
        assert(r == 0);

        flag0.store(0);
    }
}

fn p1 {
    local other, t, r;
    while (1) {
        flag1.store(1);
        fence;
        turn.store(0);
        fence;
        spin:
        other = flag0.load();
        if (other == 1) {
            t = turn.load();
            if (t == 0) goto spin;
        }

        // critical section
        cs.nastore(1);
        r = cs.naload();
        assert(r == 1);

        flag1.store(0);
    }
}
