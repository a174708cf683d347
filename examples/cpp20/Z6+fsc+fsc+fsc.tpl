// expect: robust ra=yes rc20=yes cpp20=yes
// Computed. Of the mixtures in generate.py, no weaker one is robust.
max_value 2;
global x, y, z;
fn t0 { x.store(1, rlx); fence; y.store(1, rlx); }
fn t1 { y.store(2, rlx); fence; z.store(1, rlx); }
fn t2 { local r, s; r = z.load(rlx); fence; s = x.load(rlx); }
