// Two threads publish a structure each, whenever they get to it, and use the other's as soon as they find
// it. Both can go on without it although both have published: harmless, but not robust.
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=no
max_value 1;
global current[2], node[2];

fn p[2] {
    local r;
    node[tid].store(1);
    current[tid].store(1);
    while (1) {
        r = current[1 - tid].load();
        if (r == 1) {
            r = node[1 - tid].load();
            assert(r == 1);
        }
    }
}
