// A write, then a read of what another thread changes by an atomic read-write: fragile on TSO, though the
// pattern of Persist 2015, section 7, knows plain writes only. Ours. Robustness: computed.
// expect: robust ra=yes
// expect: persistent tso=no
max_value 1;
global x, y;

fn p1 {
    local r;
    y.store(1);
    r = x.load();
}

fn p2 {
    BCAS(x, 0, 1);
}
