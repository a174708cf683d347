// A once flag: 0 nobody has begun, 1 somebody initialises, 2 done.
// expect: robust ra=yes rc20=yes tso=yes
max_value 2;
global state;
na object;

fn caller[*] {
    local seen, r;
    seen = CAS(state, 0, 1, acq, rlx);
    if (seen == 0) {
        object.nastore(1);
        state.store(2, rel);
    } else {
        wait(state, 2, acq);
    }
    r = object.naload();
    assert(r == 1);
}
