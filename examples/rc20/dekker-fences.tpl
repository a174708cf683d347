// Dekker's algorithm in full (Dijkstra 1965), with `turn`: an SC fence after every raising of a flag, other
// accesses relaxed, except for a release to leave and acquires to enter. Each thread enters once. The one with
// the turn waits for the other's flag to go down, which is a blocking wait here.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=no
// expect: assertion sc=no
max_value 1;
global flag0, flag1, turn;
na data;

fn t0 {
    local other, t, d;
    flag0.store(1, rlx);
    fence(seq_cst);
    other = flag1.load(acq);
    if (other == 1) {
        t = turn.load(rlx);
        if (t != 0) {
            flag0.store(0, rlx);
            wait(turn, 0, rlx);
            flag0.store(1, rlx);
            fence(seq_cst);
        }
        wait(flag1, 0, acq);
    }
    data.nastore(0);
    d = data.naload();
    assert(d == 0);
    turn.store(1, rlx);
    flag0.store(0, rel);
}

fn t1 {
    local other, t, d;
    flag1.store(1, rlx);
    fence(seq_cst);
    other = flag0.load(acq);
    if (other == 1) {
        t = turn.load(rlx);
        if (t != 1) {
            flag1.store(0, rlx);
            wait(turn, 1, rlx);
            flag1.store(1, rlx);
            fence(seq_cst);
        }
        wait(flag0, 0, acq);
    }
    data.nastore(1);
    d = data.naload();
    assert(d == 1);
    turn.store(0, rlx);
    flag1.store(0, rel);
}
