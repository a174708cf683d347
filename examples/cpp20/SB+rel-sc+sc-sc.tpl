// expect: robust cpp20=no
// Computed. Of the mixtures in generate.py, every stronger one is robust.
max_value 2;
global x, y;
fn t0 { local r; x.store(1, rel); r = y.load(sc); }
fn t1 { local r; y.store(1, sc); r = x.load(sc); }
