// Read-copy-update as in rcu.tpl with a relaxed load of the pointer: the new node races.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=yes
// expect: assertion sc=no
max_value 2;
global pointer, quiet;
na node0=1, node1;

fn updater {
    node1.nastore(2);
    pointer.store(1, rel);
    wait(quiet, 1, acq);             // the reader is past a quiescent state
    node0.nastore(0);                // freed
}

fn reader {
    local p, v;
    p = pointer.load(rlx);
    if (p == 0) {
        v = node0.naload();
        assert(v == 1);
    } else {
        v = node1.naload();
        assert(v == 2);
    }
    quiet.store(1, rel);
}
