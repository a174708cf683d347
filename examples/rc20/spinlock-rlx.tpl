// A test-and-set lock with relaxed accesses. Robust, as there is one atomic location only; but the lock
// orders nothing, and the data races.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=yes
// expect: assertion sc=no
max_value 3;
global lck;
na data;

fn worker[2] {
    local d;
    BCAS(lck, 0, 1, rlx, rlx);
    data.nastore(tid);
    d = data.naload();
    assert(d == tid);
    lck.store(0, rlx);
}
