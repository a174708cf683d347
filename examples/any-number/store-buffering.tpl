// Each thread is one side of store buffering: two threads show it.
// expect: robust ra=no rc20=no tso=no
max_value 1;
global x, y;

fn side[*] {
    local r;
    oneof ({
        x.store(1, rel);
        r = y.load(acq);
    }{
        y.store(1, rel);
        r = x.load(acq);
    });
}
