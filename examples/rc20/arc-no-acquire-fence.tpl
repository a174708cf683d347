// Reference counting as in arc.tpl without the acquire fence: dropping the data races with the other owner's
// use.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=yes
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
        data.nastore(0);
    }
    d = 0;
    old = FADD(count, -1, rlx, rel);
    if (old == 1) {
        data.nastore(0);
    }
}

fn other {
    local old, d;
    d = data.naload();
    assert(d == 1);
    old = FADD(count, -1, rlx, rel);
    if (old == 1) {
        data.nastore(0);
    }
}
