// Reference counting as in Rust's std::sync::Arc (2015): relaxed increments, release decrements, and an
// acquire fence before the last owner drops the data. One owner makes a clone and drops both.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=no
// expect: assertion sc=no
max_value 3;
global count=2;
na data=1;

fn cloning {
    local old, d;
    FADD(count, 1, rlx, rlx);
    d = data.naload();
    assert(d == 1);
    old = FADD(count, -1, rlx, rel);
    if (old == 1) {
        fence(acq);
        data.nastore(0);
    }
    d = 0;
    old = FADD(count, -1, rlx, rel);
    if (old == 1) {
        fence(acq);
        data.nastore(0);
    }
}

fn other {
    local old, d;
    d = data.naload();
    assert(d == 1);
    old = FADD(count, -1, rlx, rel);
    if (old == 1) {
        fence(acq);
        data.nastore(0);
    }
}
