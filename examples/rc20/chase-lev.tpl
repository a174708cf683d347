// The work-stealing deque of Chase and Lev (2005) in C11 (Lê, Pop, Cohen and Zappella Nardelli 2013): the
// owner pushes two elements and takes one, a thief steals one. An element that is taken twice is a race on
// `taken`. The paper's SC compare-and-swap is an acquire-release one here; RC20 has no SC accesses.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=no
// expect: assertion sc=no
max_value 3;
global top, bottom, array[2];
na taken[2];

fn owner {
    local b, t, v, r;
    // push 0, push 1; the array is large enough
    b = bottom.load(rlx);
    t = top.load(acq);
    array[b].store(0, rlx);
    fence(rel);
    bottom.store(b + 1, rlx);
    b = bottom.load(rlx);
    t = top.load(acq);
    array[b].store(1, rlx);
    fence(rel);
    bottom.store(b + 1, rlx);
    // take
    b = bottom.load(rlx);
    b = b - 1;
    bottom.store(b, rlx);
    fence(seq_cst);
    t = top.load(rlx);
    if (t < b) {
        v = array[b].load(rlx);
        taken[v].nastore(1);
    } else {
        if (t == b) {
            v = array[b].load(rlx);
            r = CAS(top, t, t + 1, acq, rel);
            if (r == t) {
                taken[v].nastore(1);
            }
        }
        bottom.store(b + 1, rlx);
    }
}

fn thief[1] {
    local b, t, v, r;
    t = top.load(acq);
    fence(seq_cst);
    b = bottom.load(acq);
    if (t < b) {
        v = array[t].load(rlx);
        r = CAS(top, t, t + 1, acq, rel);
        if (r == t) {
            taken[v].nastore(1);
        }
    }
}
