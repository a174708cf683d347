// expect: robust cpp20=yes
// expect: race cpp20=no
// Peterson's lock, one attempt each. Verdicts computed.
max_value 1;
global flag0, flag1, turn;
na data;
fn left {
    local f, t;
    flag0.store(1, sc); turn.store(1, sc);
    f = flag1.load(sc); t = turn.load(sc);
    if (f == 0 || t == 0) { data.nastore(1); }
    flag0.store(0, rel);
}
fn right {
    local f, t;
    flag1.store(1, sc); turn.store(0, sc);
    f = flag0.load(sc); t = turn.load(sc);
    if (f == 0 || t == 1) { data.nastore(0); }
    flag1.store(0, rel);
}
