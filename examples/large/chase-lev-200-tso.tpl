// The deque of chase-lev-200-ra.tpl with the owner's fences alone, which are enough on TSO. A thief can read an
// old bottom, and then an old slot, so it is not robust against release/acquire. Against TSO it is too large to
// decide.
// expect: robust ra=no
max_value 255;
global top=1, bottom=1, slot[20];

fn owner {
    local b, t, o, r;
    while (1) {
        oneof({
            // push, unless the array is full or the indices are used up
            b = bottom.load();
            fence;
            t = top.load();
            if (b - t < 20 && b < 200) {
                slot[b % 20].store(b);
                bottom.store(b + 1);
            }
        } {
            // pop
            b = bottom.load();
            b = b - 1;
            bottom.store(b);
            fence;
            t = top.load();
            if (b < t) {
                // empty
                bottom.store(t);
            } else {
                o = slot[b % 20].load();
                if (b == t) {
                    // the last one: whoever moves top has it
                    r = CAS(top, t, t + 1);
                    if (r != t) {
                        o = b;
                    }
                    bottom.store(t + 1);
                }
                assert(o == b);
            }
        });
    }
}

fn thief[2] {
    local t, b, o, r;
    while (1) {
        t = top.load();
        b = bottom.load();
        if (t < b) {
            o = slot[t % 20].load();
            r = CAS(top, t, t + 1);
            if (r == t) {
                assert(o == t);
            }
        }
    }
}
