// The barrier of barrier-spin.tpl with blocking waits instead of the loops.
// expect: robust ra=yes
// expect: race ra=no
// expect: assertion sc=no
max_value 1;
global here0, here1;

fn left {
    here0.store(1, rel);
    wait(here1, 1, acq);
}

fn right {
    here1.store(1, rel);
    wait(here0, 1, acq);
}
