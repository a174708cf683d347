// Two threads meet at a barrier; each one spins until it sees the other's flag.
// A stale 0 only makes a thread spin once more: a violation, but a harmless one.
// expect: robust ra=no
max_value 1;
global here0, here1;

fn left {
    local r;
    here0.store(1, rel);
    while (r == 0) {
        r = here1.load(acq);
    }
}

fn right {
    local r;
    here1.store(1, rel);
    while (r == 0) {
        r = here0.load(acq);
    }
}
