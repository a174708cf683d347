// expect: robust ra=yes rc20=yes cpp20=yes
// Computed. Of the mixtures in generate.py, no weaker one is robust.
max_value 2;
global x, y;
fn t0 { x.store(1, rlx); }
fn t1 { local r, s; r = x.load(rlx); fence; s = y.load(rlx); }
fn t2 { local r; y.store(1, rlx); fence; r = x.load(rlx); }
