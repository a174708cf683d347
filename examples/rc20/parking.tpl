// Going to sleep without missing the wake-up (as in futex users, Drepper 2004): announce, fence, look once
// more; the waker publishes, has a fence, and looks for sleepers.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=no
// expect: assertion sc=no
max_value 1;
global ready, sleeping, token;
na data;

fn waiter {
    local r, d;
    sleeping.store(1, rlx);
    fence(seq_cst);
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
    fence(seq_cst);
    s = sleeping.load(rlx);
    if (s == 1) {
        token.store(1, rel);
    }
}
