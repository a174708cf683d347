// A counting barrier with a sense flag (as in Mellor-Crummey and Scott 1991), one round: the last to arrive
// opens it.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=no
// expect: assertion sc=no
max_value 2;
global count, sense;
na part0, part1;

fn left {
    local n, d;
    part0.nastore(1);
    n = FADD(count, 1, acq, rel);
    if (n == 1) {
        sense.store(1, rel);
    } else {
        wait(sense, 1, acq);
    }
    d = part1.naload();
    assert(d == 1);
}

fn right {
    local n, d;
    part1.nastore(1);
    n = FADD(count, 1, acq, rel);
    if (n == 1) {
        sense.store(1, rel);
    } else {
        wait(sense, 1, acq);
    }
    d = part0.naload();
    assert(d == 1);
}
