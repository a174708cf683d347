// A worker that polls a flag to stop, and a controller that raises it and does not wait.
// expect: verify sc=no tso=no sra=no ra=no
max_value 1;
global stop, data;

fn worker {
    local r;
    while (r == 0) {
        data.store(0);
        r = stop.load();
    }
}

fn controller {
    local r;
    stop.store(1);
    data.store(1);
    r = data.load();
    assert(r == 1);
}
