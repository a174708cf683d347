// Lamport's fast mutual exclusion (1987, Algorithm 2) as lamport-fast.c has it: two threads, again and again.
// expect: robust rc20=yes
// expect: assertion sc=no
max_value 2;
global x, y, busy[3], owner;

fn worker[2] {
    local me, r;
    me = tid + 1;
    start:
    busy[me].store(1, rel);
    fence(seq_cst);
    x.store(me, rel);
    fence(seq_cst);
    r = y.load(acq);
    if (r != 0) {
        busy[me].store(0, rel);
        wait(y, 0, acq);
        goto start;
    }
    y.store(me, rel);
    fence(seq_cst);
    r = x.load(acq);
    if (r != me) {
        busy[me].store(0, rel);
        wait(busy[2 - tid], 0, acq);
        r = y.load(acq);
        if (r != me) {
            wait(y, 0, acq);
            goto start;
        }
    }
    owner.store(me);
    r = owner.load();
    assert(r == me);
    y.store(0, rel);
    busy[me].store(0, rel);
    goto start;
}
