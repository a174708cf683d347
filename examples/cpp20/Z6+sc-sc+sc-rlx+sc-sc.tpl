// expect: robust cpp20=no
// Computed. Of the mixtures in generate.py, every stronger one is robust.
max_value 2;
global x, y, z;
fn t0 { x.store(1, sc); y.store(1, sc); }
fn t1 { y.store(2, sc); z.store(1, rlx); }
fn t2 { local r, s; r = z.load(sc); s = x.load(sc); }
