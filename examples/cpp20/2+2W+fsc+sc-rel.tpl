// expect: robust cpp20=no
// Computed. Of the mixtures in generate.py, every stronger one is robust.
max_value 2;
global x, y;
fn t0 { x.store(1, rlx); fence; y.store(2, rlx); }
fn t1 { y.store(1, sc); x.store(2, rel); }
