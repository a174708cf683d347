// A test-and-set lock as in every textbook: acquire to take it, release to leave it. Each thread enters once.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=no
// expect: assertion sc=no
max_value 3;
global lck;
na data;

fn worker[3] {
    local d;
    BCAS(lck, 0, 1, acq, rlx);
    data.nastore(tid);
    d = data.naload();
    assert(d == tid);
    lck.store(0, rel);
}
