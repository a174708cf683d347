// A test-and-set lock that is left by a relaxed store: the next owner does not see the data. A race.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=yes
// expect: assertion sc=no
max_value 3;
global lck;
na data;

fn worker[2] {
    local d;
    BCAS(lck, 0, 1, acq, rlx);
    data.nastore(tid);
    d = data.naload();
    assert(d == tid);
    lck.store(0, rlx);
}
