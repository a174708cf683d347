// The readers-writer lock of rwlock.tpl whose readers leave with a relaxed decrement: the writer races with
// them.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=yes
// expect: assertion sc=no
max_value 3;
global state;                        // 0: free, 1 or 2: so many readers, 3: a writer
na data;

fn reader[2] {
    local d;
    oneof({ BCAS(state, 0, 1, acq, rlx); } { BCAS(state, 1, 2, acq, rlx); });
    d = data.naload();
    FADD(state, -1, rlx, rlx);
}

fn writer {
    local d;
    BCAS(state, 0, 3, acq, rlx);
    data.nastore(1);
    d = data.naload();
    assert(d == 1);
    state.store(0, rel);
}
