// Message passing through a relaxed read-modify-write of a third thread, which continues the release
// sequence.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=no
// expect: assertion sc=no
max_value 2;
global flag;
na data;

fn producer {
    data.nastore(1);
    flag.store(1, rel);
}

fn between {
    BCAS(flag, 1, 2, rlx, rlx);
}

fn consumer {
    local d;
    wait(flag, 2, acq);
    d = data.naload();
    assert(d == 1);
}
