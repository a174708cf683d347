// expect: robust cpp20=yes
// Computed. Of the mixtures in generate.py, no weaker one is robust.
max_value 2;
global x, y, z;
fn t0 { x.store(1, sc); y.store(1, sc); }
fn t1 { y.store(2, rlx); z.store(1, rel); }
fn t2 { local r, s; r = z.load(rlx); fence; s = x.load(rlx); }
