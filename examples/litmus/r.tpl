// As fadd-write with a plain write in place of the FADD: now the second thread's write may come first.
// RSAN 2025, Example 4.1 (the modified Program (2)); elsewhere this test is called R.
// expect: robust ra=no rc20=no
max_value 2;
global x, y;

fn t1 {
    local b;
    x.store(1, rel);
    b = y.load(acq);
}

fn t2 {
    y.store(1, rel);
    x.store(2, rel);
}
