// expect: robust cpp20=yes
// expect: race cpp20=no
// Lamport's bakery for two, one attempt each; the thread on the left takes number 1 for smaller. Verdicts
// computed.
max_value 3;
global choosing0, choosing1, number0, number1;
na data;
fn left {
    local n, c;
    choosing0.store(1, sc); n = number1.load(sc); number0.store(n + 1, sc); choosing0.store(0, sc);
    c = choosing1.load(sc); assume(c == 0);
    n = number1.load(sc); assume(n == 0 || n > 1);
    data.nastore(1); number0.store(0, sc);
}
fn right {
    local n, c;
    choosing1.store(1, sc); n = number0.load(sc); number1.store(n + 1, sc); choosing1.store(0, sc);
    c = choosing0.load(sc); assume(c == 0);
    n = number0.load(sc); assume(n == 0);
    data.nastore(0); number1.store(0, sc);
}
