// expect: robust cpp20=no
// The producer stores with release: it can miss the consumer, which then sleeps for ever. Verdicts
// computed.
max_value 1;
global ready, waiting, woken;
fn consumer { local r; waiting.store(1, sc); r = ready.load(sc); if (r == 0) { wait(woken, 1, acq); } }
fn producer { local w; ready.store(1, rel); w = waiting.load(sc); if (w == 1) { woken.store(1, rel); } }
