// expect: robust cpp20=no
// Computed. Of the mixtures in generate.py, every stronger one is robust.
max_value 2;
global x, y;
fn t0 { x.store(1, sc); y.store(1, rlx); }
fn t1 { local r, s; r = y.load(rlx); fence; s = x.load(rlx); }
