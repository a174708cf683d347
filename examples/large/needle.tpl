// Store buffering that comes late, in a crowd: `left` and `right` count to 20 first, and four threads that
// never end count with them. Too large to decide.
// expect: robust ra=no
global x, y, a, b, c, d;

fn left {
    local i, r;
    while (i < 20) {
        i = i + 1;
        FADD(a, 1);
    }
    x.store(1);
    r = y.load();
}

fn right {
    local i, r;
    while (i < 20) {
        i = i + 1;
        FADD(c, 1);
    }
    y.store(1);
    r = x.load();
}

fn crowd0 { while (1) { FADD(a, 1); FADD(b, 4); } }
fn crowd1 { while (1) { FADD(b, 1); FADD(c, 5); } }
fn crowd2 { while (1) { FADD(c, 2); FADD(d, 6); } }
fn crowd3 { while (1) { FADD(d, 3); FADD(a, 7); } }
