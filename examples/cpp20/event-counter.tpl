// expect: robust cpp20=yes
// A consumer says that it waits, and looks again; a producer wakes it if it sees that. Nobody sleeps for
// ever. Verdicts computed.
max_value 1;
global ready, waiting, woken;
fn consumer { local r; waiting.store(1, sc); r = ready.load(sc); if (r == 0) { wait(woken, 1, acq); } }
fn producer { local w; ready.store(1, sc); w = waiting.load(sc); if (w == 1) { woken.store(1, rel); } }
