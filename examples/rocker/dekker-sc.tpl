// Dekker's mutual exclusion algorithm (Dijkstra, Cooperating Sequential Processes, 1965), as designed for
// sequential consistency. Verdicts: Lahav and Margalit 2019, Figure 7.
// expect: robust ra=no tso=no
// expect: race ra=no
// expect: assertion sc=no
max_value 1;
global flag0, flag1, turn;
na cs;

fn p0 {
    local other, t, r;
    while (1) {
        flag0.store(1);
        other = flag1.load();
        while (other == 1) {
            t = turn.load();
            if (t != 0) {
                // not our turn: withdraw until it is
                flag0.store(0);
                while (t != 0) {
                    t = turn.load();
                }
                flag0.store(1);
            }
            other = flag1.load();
        }

        // critical section
        cs.nastore(0);
        r = cs.naload();
        assert(r == 0);

        turn.store(1);
        flag0.store(0);
    }
}

fn p1 {
    local other, t, r;
    while (1) {
        flag1.store(1);
        other = flag0.load();
        while (other == 1) {
            t = turn.load();
            if (t != 1) {
                flag1.store(0);
                while (t != 1) {
                    t = turn.load();
                }
                flag1.store(1);
            }
            other = flag0.load();
        }

        // critical section
        cs.nastore(1);
        r = cs.naload();
        assert(r == 1);

        turn.store(0);
        flag1.store(0);
    }
}
