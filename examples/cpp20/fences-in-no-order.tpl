// expect: robust ra=no rc20=no cpp20=yes
// Under RA and RC20 the two fences are ordered in every run, which closes a cycle; in C++20 nothing orders them.
// Verdicts computed.
max_value 1;
global x, y, z, w;
fn first { x.store(1, rel); fence; z.store(1, rel); }
fn second { local q, r; q = w.load(acq); fence; r = y.load(acq); }
fn third { local s; y.store(1, rel); s = x.load(acq); }
fn fourth { local s; w.store(1, rel); s = z.load(acq); }
