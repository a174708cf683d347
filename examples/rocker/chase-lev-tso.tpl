// The work-stealing deque of Chase and Lev (Dynamic circular work-stealing deque, 2005) with an owner and
// two thieves. The array has two slots, used in turn, and does not grow. A slot holds the number of a
// task; a task is 1 from push until somebody takes it, so each must be taken exactly once. The indices
// must not wrap around, so they end at 4. With the fences that TSO needs: the owner must not read top
// before others see its last write of bottom. Verdicts: Lahav and Margalit 2019, Figure 7.
// expect: robust ra=no tso=yes
// expect: race ra=no
// expect: assertion sc=no
max_value 4;
global top=1, bottom=1, slot0, slot1;
na task1, task2, task3;

fn owner {
    local b, t, o, r;
    while (1) {
        oneof({
            // push, unless the array is full
            b = bottom.load();
            fence;
            t = top.load();
            if (b - t < 2 && b <= 3) {
                if (b == 1) {
                    task1.nastore(1);
                }
                if (b == 2) {
                    task2.nastore(1);
                }
                if (b == 3) {
                    task3.nastore(1);
                }
                if (b % 2 == 0) {
                    slot0.store(b);
                } else {
                    slot1.store(b);
                }
                bottom.store(b + 1);
            }
        } {
            // pop
            b = bottom.load();
            b = b - 1;
            bottom.store(b);
            fence;
            t = top.load();
            if (b < t) {
                // empty
                bottom.store(t);
            } else {
                if (b % 2 == 0) {
                    o = slot0.load();
                } else {
                    o = slot1.load();
                }
                if (b == t) {
                    // the last one: whoever moves top has it
                    r = CAS(top, t, t + 1);
                    if (r != t) {
                        o = 0;
                    }
                    bottom.store(t + 1);
                }
                if (o != 0) {
                    assert(o == b);
                    if (o == 1) {
                        r = task1.naload();
                        task1.nastore(0);
                    }
                    if (o == 2) {
                        r = task2.naload();
                        task2.nastore(0);
                    }
                    if (o == 3) {
                        r = task3.naload();
                        task3.nastore(0);
                    }
                    assert(r == 1);
                }
            }
        });
    }
}

fn thief1 {
    local t, b, o, r;
    while (1) {
        t = top.load();
        b = bottom.load();
        if (t < b) {
            if (t % 2 == 0) {
                o = slot0.load();
            } else {
                o = slot1.load();
            }
            r = CAS(top, t, t + 1);
            if (r == t) {
                assert(o == t);
                if (o == 1) {
                    r = task1.naload();
                    task1.nastore(0);
                }
                if (o == 2) {
                    r = task2.naload();
                    task2.nastore(0);
                }
                if (o == 3) {
                    r = task3.naload();
                    task3.nastore(0);
                }
                assert(r == 1);
            }
        }
    }
}

fn thief2 {
    local t, b, o, r;
    while (1) {
        t = top.load();
        b = bottom.load();
        if (t < b) {
            if (t % 2 == 0) {
                o = slot0.load();
            } else {
                o = slot1.load();
            }
            r = CAS(top, t, t + 1);
            if (r == t) {
                assert(o == t);
                if (o == 1) {
                    r = task1.naload();
                    task1.nastore(0);
                }
                if (o == 2) {
                    r = task2.naload();
                    task2.nastore(0);
                }
                if (o == 3) {
                    r = task3.naload();
                    task3.nastore(0);
                }
                assert(r == 1);
            }
        }
    }
}
