// A barrier with blocking instructions: bar-loop without the harmless violation. Rocker 2019, section 2.3
// (BAR, right); RSAN 2025, Example 4.2 (BARW 1,1).
// expect: robust ra=yes rc20=yes
max_value 2;
global x, y;

fn t1 {
    x.store(1, rel);
    wait(y, 1, acq);
}

fn t2 {
    y.store(1, rel);
    wait(x, 1, acq);
}
