// expect: robust ra=yes rc20=yes cpp20=yes
// Computed. Of the mixtures in generate.py, no weaker one is robust.
max_value 2;
global x, y;
fn t0 { local r; x.store(1, rlx); fence; r = y.load(rlx); }
fn t1 { local r; y.store(1, rlx); fence; r = x.load(rlx); }
