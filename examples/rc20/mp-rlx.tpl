// Message passing over a relaxed flag (after Boehm and Adve 2008): the accesses to the data never meet, and
// race.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=yes
// expect: assertion sc=no
max_value 2;
global flag;
na data;

fn producer {
    data.nastore(1);
    flag.store(1, rlx);
}

fn consumer {
    local d;
    wait(flag, 1, rlx);
    d = data.naload();
    assert(d == 1);
}
