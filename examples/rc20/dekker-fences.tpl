// Dekker's algorithm in full (Dijkstra 1965), with `turn`, as ported to C++ by Preshing and by Bartosz Milewski
// (2008 to 2012): relaxed accesses and an SC fence after every raising of a flag.
// The busy loop on the other's flag can read a stale 1 once more: harmless, and not robust.
// expect: robust 
// expect: race ra=no
// expect: assertion sc=no
max_value 1;
global flag0, flag1, turn;
na data;

fn t0 {
    local other, t, d;
    flag0.store(1, rlx);
    fence(seq_cst);
    other = flag1.load(acq);
    while (other == 1) {
        t = turn.load(rlx);
        if (t != 0) {
            flag0.store(0, rlx);
            wait(turn, 0, rlx);
            flag0.store(1, rlx);
            fence(seq_cst);
        }
        other = flag1.load(acq);
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
    while (other == 1) {
        t = turn.load(rlx);
        if (t != 1) {
            flag1.store(0, rlx);
            wait(turn, 1, rlx);
            flag1.store(1, rlx);
            fence(seq_cst);
        }
        other = flag0.load(acq);
    }
    data.nastore(1);
    d = data.naload();
    assert(d == 1);
    turn.store(0, rlx);
    flag1.store(0, rel);
}
