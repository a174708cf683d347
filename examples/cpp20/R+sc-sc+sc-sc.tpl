// expect: robust cpp20=yes
// Computed. Of the mixtures in generate.py, no weaker one is robust.
max_value 2;
global x, y;
fn t0 { x.store(1, sc); y.store(1, sc); }
fn t1 { local r; y.store(2, sc); r = x.load(sc); }
