// Only weak memory lets both waits through. Under sequential consistency they never do, so the violation
// has to be found while one of them is blocked. RSAN 2025, section 4.3 (BARW 0,0).
// expect: robust ra=no rc20=no
max_value 2;
global x, y;

fn t1 {
    x.store(1, rel);
    wait(y, 0, acq);
}

fn t2 {
    y.store(1, rel);
    wait(x, 0, acq);
}
