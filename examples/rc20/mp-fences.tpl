// Message passing over a relaxed flag between a release and an acquire fence.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=no
// expect: assertion sc=no
max_value 2;
global flag;
na data;

fn producer {
    data.nastore(1);
    fence(rel);
    flag.store(1, rlx);
}

fn consumer {
    local d;
    wait(flag, 1, rlx);
    fence(acq);
    d = data.naload();
    assert(d == 1);
}
