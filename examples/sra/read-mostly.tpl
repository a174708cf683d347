// A read-mostly table with two entries, published one after the other, each with its own flag in the table
// itself; two readers look entries up again and again and leave word of what they have found, which the
// writer looks at now and then. A thread that finds the second entry finds the first one too.
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=no
max_value 2;
global entry[2], found[2];

fn writer {
    local r;
    entry[0].store(1);
    r = found[0].load();
    r = found[1].load();
    entry[1].store(1);
    while (1) {
        r = found[0].load();
        r = found[1].load();
    }
}

fn reader[2] {
    local r;
    while (1) {
        r = entry[1].load();
        found[tid].store(r);
        if (r == 1) {
            r = entry[0].load();
            assert(r == 1);
        }
    }
}
