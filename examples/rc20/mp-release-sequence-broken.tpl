// Message passing through a relaxed store of a third thread, which breaks the release sequence: a race.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=yes
// expect: assertion sc=no
max_value 2;
global flag;
na data;

fn producer {
    data.nastore(1);
    flag.store(1, rel);
}

fn between {
    wait(flag, 1, rlx);
    flag.store(2, rlx);
}

fn consumer {
    local d;
    wait(flag, 2, acq);
    d = data.naload();
    assert(d == 1);
}
