// The work-stealing deque of Chase and Lev (Dynamic circular work-stealing deque, 2005) at its real size: an
// owner, two thieves, indices up to 200, and an array of 20 slots that does not grow. Fences are those of
// examples/rocker/chase-lev-ra.tpl, which has two slots and indices up to 4. A task is its index, so who takes a
// task knows what must be in its slot. It is proven robust by translation, without a look at its assertions;
// docs/performance.md says how.
// expect: robust ra=yes
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
        fence;
        b = bottom.load();
        fence;
        if (t < b) {
            o = slot[t % 20].load();
            r = CAS(top, t, t + 1);
            if (r == t) {
                assert(o == t);
            }
        }
    }
}
