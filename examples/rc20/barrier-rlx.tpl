// The barrier of barrier.tpl with relaxed accesses: it counts, but orders nothing. A race.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=yes
// expect: assertion sc=no
max_value 2;
global count, sense;
na part0, part1;

fn left {
    local n, d;
    part0.nastore(1);
    n = FADD(count, 1, rlx, rlx);
    if (n == 1) {
        sense.store(1, rlx);
    } else {
        wait(sense, 1, rlx);
    }
    d = part1.naload();
    assert(d == 1);
}

fn right {
    local n, d;
    part1.nastore(1);
    n = FADD(count, 1, rlx, rlx);
    if (n == 1) {
        sense.store(1, rlx);
    } else {
        wait(sense, 1, rlx);
    }
    d = part0.naload();
    assert(d == 1);
}
