// A stale value can be read, but not the one that is waited for. RSAN 2025, section 4.3 (BARW 0,2).
// expect: robust ra=yes rc20=yes
max_value 2;
global x, y;

fn t1 {
    x.store(1, rel);
    wait(y, 0, acq);
}

fn t2 {
    y.store(1, rel);
    wait(x, 2, acq);
}
