// A ticket lock (Reed and Kanodia 1979; Mellor-Crummey and Scott 1991) and four threads. The two counters
// wrap around, which is harmless as long as there are at least as many numbers as threads. Verdicts: Lahav
// and Margalit 2019, Figure 7.
// expect: robust ra=yes tso=yes
// expect: race ra=no
// expect: assertion sc=no
max_value 7;
global next_ticket, now_serving;
na cs;

fn p0 {
    local ticket, r;
    while (1) {
        ticket = FADD(next_ticket, 1);
        r = now_serving.load();
        while (r != ticket) {
            r = now_serving.load();
        }

        // critical section
        cs.nastore(0);
        r = cs.naload();
        assert(r == 0);

        now_serving.store(ticket + 1);
    }
}

fn p1 {
    local ticket, r;
    while (1) {
        ticket = FADD(next_ticket, 1);
        r = now_serving.load();
        while (r != ticket) {
            r = now_serving.load();
        }

        // critical section
        cs.nastore(1);
        r = cs.naload();
        assert(r == 1);

        now_serving.store(ticket + 1);
    }
}

fn p2 {
    local ticket, r;
    while (1) {
        ticket = FADD(next_ticket, 1);
        r = now_serving.load();
        while (r != ticket) {
            r = now_serving.load();
        }

        // critical section
        cs.nastore(2);
        r = cs.naload();
        assert(r == 2);

        now_serving.store(ticket + 1);
    }
}

fn p3 {
    local ticket, r;
    while (1) {
        ticket = FADD(next_ticket, 1);
        r = now_serving.load();
        while (r != ticket) {
            r = now_serving.load();
        }

        // critical section
        cs.nastore(3);
        r = cs.naload();
        assert(r == 3);

        now_serving.store(ticket + 1);
    }
}
