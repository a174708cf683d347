// expect: robust cpp20=yes
// expect: race cpp20=no
// Dekker's entry, tried once: who finds the other flag down goes in. Verdicts computed.
max_value 1;
global flag0, flag1;
na data;
fn left { local r; flag0.store(1, sc); r = flag1.load(sc); if (r == 0) { data.nastore(1); } flag0.store(0, rel); }
fn right { local r; flag1.store(1, sc); r = flag0.load(sc); if (r == 0) { data.nastore(0); } flag1.store(0, rel); }
