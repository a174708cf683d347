// expect: robust cpp20=no
// expect: race cpp20=no
// Only the loads are seq_cst, which is not enough: both threads can go in. Verdicts computed.
max_value 1;
global flag0, flag1;
na data;
fn left { local r; flag0.store(1, rel); r = flag1.load(sc); if (r == 0) { data.nastore(1); } flag0.store(0, rel); }
fn right { local r; flag1.store(1, rel); r = flag0.load(sc); if (r == 0) { data.nastore(0); } flag1.store(0, rel); }
