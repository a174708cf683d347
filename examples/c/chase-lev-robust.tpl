// The work-stealing deque of chase-lev-robust.c: an owner that pushes or takes four times, two thieves that
// try to steal twice. With five and three times the answer is the same.
// expect: robust rc20=yes
max_value 4;
global top, bottom, array[4];

fn owner {
    local b, t, r, round;
    while (round < 4) {
        oneof({
            b = bottom.load();
            fence(seq_cst);
            t = top.load(acq);
            array[b].store(1);
            bottom.store(b + 1, rel);
        } {
            b = bottom.load();
            assume(b > 0);
            b = b - 1;
            bottom.store(b, rel);
            fence(seq_cst);
            t = top.load(acq);
            if (t < b) {
                r = array[b].load();
            } else {
                if (t == b) {
                    r = array[b].load();
                    r = CAS(top, t, t + 1, acq, rel);
                }
                bottom.store(b + 1, rel);
            }
        });
        round = round + 1;
    }
}

fn thief[2] {
    local b, t, r, round;
    while (round < 2) {
        t = top.load(acq);
        fence(seq_cst);
        b = bottom.load(acq);
        fence(seq_cst);
        if (t < b) {
            r = array[t].load(acq);
            r = CAS(top, t, t + 1, acq, rel);
        }
        round = round + 1;
    }
}
