// The work-stealing deque of chase-lev.c (Lê and others 2013), an owner and two thieves.
// expect: robust rc20=no
max_value 7;
global top, bottom, array[4];

fn owner {
    local b, t, r, round;
    while (round < 2) {
        b = bottom.load();
        t = top.load(acq);
        array[b % 4].store(1);
        fence(rel);
        bottom.store(b + 1);
        b = bottom.load();
        b = b - 1;
        bottom.store(b);
        fence(seq_cst);
        t = top.load();
        if (t < b) {
            r = array[b % 4].load();
        } else {
            if (t == b) {
                r = CAS(top, t, t + 1, acq, rel);
            }
            bottom.store(b + 1);
        }
        round = round + 1;
    }
}

fn thief[2] {
    local b, t, r, round;
    while (round < 2) {
        t = top.load(acq);
        fence(seq_cst);
        b = bottom.load(acq);
        if (t < b) {
            r = array[t % 4].load();
            r = CAS(top, t, t + 1, acq, rel);
        }
        round = round + 1;
    }
}
