// Write-to-read causality: message passing through a second thread, which only says what it has seen. SRA
// 2020, Example 3.7 (transitive message passing), whose listing is not in our copy of the paper; the
// condition makes the forbidden outcome visible to the third thread alone. Robustness: computed.
// expect: robust ra=yes
// expect: assertion sc=no
max_value 1;
global x, y;

fn t1 {
    x.store(1);
}

fn t2 {
    local a;
    a = x.load();
    if (a == 1) {
        y.store(1);
    }
}

fn t3 {
    local b, c;
    b = y.load();
    c = x.load();
    assert(b == 0 || c == 1);
}
