// Double-checked initialisation: whoever comes first initialises under the lock.
// expect: robust ra=yes rc20=yes tso=yes
max_value 1;
global done, locked;
na object;

fn user[*] {
    local d, r;
    d = done.load(acq);
    if (d == 0) {
        BCAS(locked, 0, 1, acq, rlx);
        d = done.load(rlx);
        if (d == 0) {
            object.nastore(1);
            done.store(1, rel);
        }
        locked.store(0, rel);
    }
    r = object.naload();
    assert(r == 1);
}
