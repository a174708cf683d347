// expect: robust cpp20=yes
// Computed. Of the mixtures in generate.py, no weaker one is robust.
max_value 2;
global x, y;
fn t0 { x.store(1, rlx); }
fn t1 { local r, s; r = x.load(sc); s = y.load(sc); }
fn t2 { local r; y.store(1, sc); r = x.load(sc); }
