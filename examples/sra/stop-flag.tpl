// A worker that polls a flag to stop, and a controller that raises it, looks at the progress for the log and
// then waits until the worker has stopped; from there on the data are its own. That progress and flag can be
// missed at the same time is harmless, but not robust.
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=no
max_value 1;
global stop, progress, stopped, data;

fn worker {
    local r, n;
    while (r == 0) {
        n = 1 - n;
        data.store(0);
        progress.store(n);
        r = stop.load();
    }
    stopped.store(1);
}

fn controller {
    local r;
    stop.store(1);
    r = progress.load();
    wait(stopped, 1);
    data.store(1);
    r = data.load();
    assert(r == 1);
}
