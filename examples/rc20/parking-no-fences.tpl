// Going to sleep as in parking.tpl without the fences: the wake-up can be missed, and the waiter sleeps for
// ever.
// expect: robust ra=no rc20=no
// expect: race ra=no rc20=no
// expect: assertion sc=no
max_value 1;
global ready, sleeping, token;
na data;

fn waiter {
    local r, d;
    sleeping.store(1, rlx);
    r = ready.load(acq);
    if (r == 0) {
        wait(token, 1, acq);
    }
    d = data.naload();
    assert(d == 1);
}

fn waker {
    local s;
    data.nastore(1);
    ready.store(1, rel);
    s = sleeping.load(rlx);
    if (s == 1) {
        token.store(1, rel);
    }
}
