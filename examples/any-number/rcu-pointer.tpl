// A pointer to one of three nodes, as in read-copy-update: the updater fills a node that nobody has seen yet
// and publishes it. Any number of readers follow the pointer. Old nodes are never reused.
// expect: robust ra=yes rc20=yes tso=yes
max_value 3;
global pointer;
na node[3]=1;

fn updater {
    node[1].nastore(2);
    pointer.store(1, rel);
    node[2].nastore(3);
    pointer.store(2, rel);
}

fn reader[*] {
    local p, v;
    while (1) {
        p = pointer.load(acq);
        v = node[p].naload();
        assert(v == p + 1);
    }
}
