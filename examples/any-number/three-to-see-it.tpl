// Store buffering where each thread needs a second one to open its gate: with two threads nothing is seen.
// expect: robust ra=no rc20=no tso=no
max_value 1;
global gate, x, y;

fn worker[*] {
    local r;
    oneof ({
        gate.store(1, rel);
    }{
        wait(gate, 1, acq);
        x.store(1, rel);
        r = y.load(acq);
    }{
        wait(gate, 1, acq);
        y.store(1, rel);
        r = x.load(acq);
    });
}
