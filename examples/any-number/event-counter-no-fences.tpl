// The event counter without fences: the producer misses a consumer that has missed the change.
// expect: robust ra=no rc20=no tso=no
max_value 1;
global ready, waiting, woken;

fn consumer[*] {
    local r;
    waiting.store(1, rel);
    r = ready.load(acq);
    if (r == 0) {
        wait(woken, 1, acq);
    }
}

fn producer {
    local w;
    ready.store(1, rel);
    w = waiting.load(acq);
    if (w == 1) {
        woken.store(1, rel);
    }
}
