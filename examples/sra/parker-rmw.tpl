// Parking with exchanges of the one location where the two threads meet. If the waker's comes first, the
// sleeper knows of the work; if it comes second, it finds the sleeper.
// bad: sleeper@sleep && waker@quiet
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 1;
global work, asleep, wake;

fn sleeper {
    local r;
    exchange(asleep, 1);
    r = work.load();
    while (r == 0) {
        // nothing to do: sleep until woken, look again
        sleep: wait(wake, 1);
        r = work.load();
    }
}

fn waker {
    local r;
    work.store(1);
    r = exchange(asleep, 0);
    if (r == 0) {
        // nobody sleeps: nobody to wake
        quiet: wait(wake, 1);
    } else {
        wake.store(1);
    }
}
