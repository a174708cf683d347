// expect: robust cpp20=no
// Computed. Of the mixtures in generate.py, every stronger one is robust.
max_value 2;
global x, y;
fn t0 { x.store(1, sc); }
fn t1 { local r, s; r = x.load(acq); s = y.load(sc); }
fn t2 { local r, s; r = y.load(sc); s = x.load(sc); }
fn t3 { y.store(1, sc); }
