// An event counter: any number of threads say that they wait, look again, and sleep until they are woken; the
// one who changes the state wakes them if it sees that somebody waits. SC fences between the two on each side.
// expect: robust ra=yes rc20=yes tso=yes
max_value 1;
global ready, waiting, woken;

fn consumer[*] {
    local r;
    waiting.store(1, rlx);
    fence(seq_cst);
    r = ready.load(acq);
    if (r == 0) {
        wait(woken, 1, acq);
    }
}

fn producer {
    local w;
    ready.store(1, rel);
    fence(seq_cst);
    w = waiting.load(rlx);
    if (w == 1) {
        woken.store(1, rel);
    }
}
