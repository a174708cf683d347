// Parking with fences: of the two threads, one sees what the other has written before its fence.
// bad: sleeper@sleep && waker@quiet
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 1;
global work, asleep, wake;

fn sleeper {
    local r;
    asleep.store(1);
    fence;
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
    fence;
    r = asleep.load();
    if (r == 0) {
        // nobody sleeps: nobody to wake
        quiet: wait(wake, 1);
    } else {
        wake.store(1);
    }
}
