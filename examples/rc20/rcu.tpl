// Read-copy-update (McKenney and Slingwine 1998; in user space Desnoyers and others 2012): a new node is
// published with release and found with acquire, the old one is freed after a quiescent state of the reader.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=no
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
    p = pointer.load(acq);
    if (p == 0) {
        v = node0.naload();
        assert(v == 1);
    } else {
        v = node1.naload();
        assert(v == 2);
    }
    quiet.store(1, rel);
}
