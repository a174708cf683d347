// Store buffering that comes late, in a crowd: `left` and `right` count to 20 first, and four threads that
// never end count with them. Too large to decide. If nobody told 255 from other numbers, it would
// not be: how far the counters have come would not matter.
// expect: robust ra=no
global x, y, a, b, c, d;

fn left {
    local i, r;
    while (i < 20) {
        i = i + 1;
        r = FADD(a, 1);
        if (r == 255) {
            i = 0;
        }
    }
    x.store(1);
    r = y.load();
}

fn right {
    local i, r;
    while (i < 20) {
        i = i + 1;
        r = FADD(c, 1);
        if (r == 255) {
            i = 0;
        }
    }
    y.store(1);
    r = x.load();
}

fn crowd0 { while (1) { FADD(a, 1); FADD(b, 4); } }
fn crowd1 { while (1) { FADD(b, 1); FADD(c, 5); } }
fn crowd2 { while (1) { FADD(c, 2); FADD(d, 6); } }
fn crowd3 { while (1) { FADD(d, 3); FADD(a, 7); } }
