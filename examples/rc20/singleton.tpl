// A singleton made at its first use, with double-checked locking (Schmidt and Harrison 1997; right since
// C++11): the flag is stored with release and loaded with acquire.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=no
// expect: assertion sc=no
max_value 1;
global ready, lck;
na object;

fn user[2] {
    local r, d;
    r = ready.load(acq);
    if (r == 0) {
        lock(lck);
        r = ready.load(rlx);
        if (r == 0) {
            object.nastore(1);
            ready.store(1, rel);
        }
        unlock(lck);
    }
    d = object.naload();
    assert(d == 1);
}
