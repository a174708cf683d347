// Independent reads of independent writes with relaxed loads and gates: it takes four threads.
// expect: robust ra=no rc20=no tso=yes
max_value 1;
global x, y;

fn worker[*] {
    local a, b;
    oneof ({
        x.store(1, rel);
    }{
        y.store(1, rel);
    }{
        wait(x, 1, acq);
        b = y.load(acq);
    }{
        wait(y, 1, acq);
        b = x.load(acq);
    });
}
