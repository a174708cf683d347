// expect: robust ra=yes rc20=yes cpp20=yes
// Computed. Of the mixtures in generate.py, no weaker one is robust.
max_value 2;
global x, y;
fn t0 { x.store(2, rlx); y.store(1, rel); }
fn t1 { local r; r = y.load(acq); x.store(1, rlx); }
