// expect: robust cpp20=no
// expect: race cpp20=no
// The stores of the bakery are release stores. Verdicts computed.
max_value 3;
global choosing0, choosing1, number0, number1;
na data;
fn left {
    local n, c;
    choosing0.store(1, rel); n = number1.load(sc); number0.store(n + 1, rel); choosing0.store(0, rel);
    c = choosing1.load(sc); assume(c == 0);
    n = number1.load(sc); assume(n == 0 || n > 1);
    data.nastore(1); number0.store(0, sc);
}
fn right {
    local n, c;
    choosing1.store(1, rel); n = number0.load(sc); number1.store(n + 1, rel); choosing1.store(0, rel);
    c = choosing0.load(sc); assume(c == 0);
    n = number0.load(sc); assume(n == 0);
    data.nastore(0); number1.store(0, sc);
}
