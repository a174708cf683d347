// expect: robust cpp20=no
// Computed. Of the mixtures in generate.py, every stronger one is robust.
max_value 2;
global x, y;
fn t0 { x.store(1, sc); }
fn t1 { local r; r = x.load(sc); y.store(1, rlx); }
fn t2 { local r, s; r = y.load(sc); s = x.load(sc); }
