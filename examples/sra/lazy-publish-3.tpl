// Three threads publish a structure each, whenever they get to it, and use the others' as soon as they find
// them.
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=no
max_value 3;
global current[3], node[3];

fn p[3] {
    local r;
    node[tid].store(1);
    current[tid].store(1);
    while (1) {
        r = current[(tid + 1) % 3].load();
        if (r == 1) {
            r = node[(tid + 1) % 3].load();
            assert(r == 1);
        }
        r = current[(tid + 2) % 3].load();
        if (r == 1) {
            r = node[(tid + 2) % 3].load();
            assert(r == 1);
        }
    }
}
