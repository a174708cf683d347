// A thread that passes a fence for ever has no more events: the fence is not part of a run.
global x, y, z;

fn spinning {
    z.store(1);
    again: fence(acq);
    goto again;
}

fn left {
    local a;
    wait(z, 1);
    x.store(1);
    a = y.load();
}

fn right {
    local b;
    y.store(1);
    b = x.load();
}
