// Double-checked locking (Schmidt and Harrison 1997) with a relaxed flag, as broken as it was before C++11:
// a thread that sees the flag need not see the object.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=yes
// expect: assertion sc=no
max_value 1;
global ready, lck;
na object;

fn user[2] {
    local r, d;
    r = ready.load(rlx);
    if (r == 0) {
        lock(lck);
        r = ready.load(rlx);
        if (r == 0) {
            object.nastore(1);
            ready.store(1, rlx);
        }
        unlock(lck);
    }
    d = object.naload();
    assert(d == 1);
}
