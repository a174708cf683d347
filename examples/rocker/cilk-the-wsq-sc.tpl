// The THE protocol of the Cilk-5 work-stealing deque (Frigo, Leiserson and Randall, The implementation of
// the Cilk-5 multithreaded language, 1998), with a worker that pushes and pops at the tail T and a thief
// that steals at the head H. A task is 1 from push until somebody takes it, so each must be taken exactly
// once. The indices must not wrap around, so they end at 4. As designed for sequential consistency.
// Verdicts: Lahav and Margalit 2019, Figure 7.
// expect: robust ra=no tso=no
// expect: race ra=no
// expect: assertion sc=no
max_value 5;
global H=1, T=1, L;
na task1, task2, task3;

fn worker {
    local t, h, ok, r;
    while (1) {
        oneof({
            // push, unless the array is full
            t = T.load();
            if (t <= 3) {
                if (t == 1) {
                    task1.nastore(1);
                }
                if (t == 2) {
                    task2.nastore(1);
                }
                if (t == 3) {
                    task3.nastore(1);
                }
                T.store(t + 1);
            }
        } {
            // pop
            t = T.load();
            t = t - 1;
            T.store(t);
            h = H.load();
            ok = 1;
            if (h > t) {
                // a thief may be after the same task: restore T and look again under the lock
                T.store(t + 1);
                lock(L);
                T.store(t);
                h = H.load();
                if (h > t) {
                    // the deque is empty
                    T.store(t + 1);
                    ok = 0;
                }
                unlock(L);
            }
            if (ok == 1) {
                // the task is ours alone
                if (t == 1) {
                    r = task1.naload();
                    task1.nastore(0);
                }
                if (t == 2) {
                    r = task2.naload();
                    task2.nastore(0);
                }
                if (t == 3) {
                    r = task3.naload();
                    task3.nastore(0);
                }
                assert(r == 1);
            }
        });
    }
}

fn thief {
    local t, h, r;
    while (1) {
        lock(L);
        h = H.load();
        H.store(h + 1);
        t = T.load();
        if (h + 1 > t) {
            // nothing to steal
            H.store(h);
            unlock(L);
        } else {
            unlock(L);
            // the task is ours alone
            if (h == 1) {
                r = task1.naload();
                task1.nastore(0);
            }
            if (h == 2) {
                r = task2.naload();
                task2.nastore(0);
            }
            if (h == 3) {
                r = task3.naload();
                task3.nastore(0);
            }
            assert(r == 1);
        }
    }
}
