// Parking (as in HotSpot, Dice 2009): a thread says that it goes to sleep, looks for work once more and
// sleeps; a thread that brings work wakes it if it sleeps. It is bad if it sleeps and no thread will wake it.
// bad: sleeper@sleep && waker@quiet
// expect: verify sc=yes tso=no sra=no ra=no
// expect: robust ra=no
max_value 1;
global work, asleep, wake;

fn sleeper {
    local r;
    asleep.store(1);
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
    r = asleep.load();
    if (r == 0) {
        // nobody sleeps: nobody to wake
        quiet: wait(wake, 1);
    } else {
        wake.store(1);
    }
}
