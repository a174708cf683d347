// The running example of Persist 2015, Figure 2: on TSO the read of x may overtake the write of z, and p2
// write x in between, so the program is fragile (section 3). Robustness: computed.
// expect: robust ra=yes
// expect: persistent tso=no
max_value 2;
global x, y, z, t;

fn p1 {
    local r1;
    t.store(1);
    more: oneof({
        x.store(2);
        goto more;
    } {
        z.store(1);
    });
    r1 = x.load();
}

fn p2 {
    local r2;
    t.store(1);
    y.store(1);
    r2 = t.load();
    x.store(r2);
}
