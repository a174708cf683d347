// persist-simple with the fence that Persist 2015, section 9, inserts after the write of z, which makes it
// persistent. Robustness: computed.
// expect: robust ra=yes
// expect: persistent tso=yes
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
        fence;
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
