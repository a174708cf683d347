// The work-stealing deque of Chase and Lev in C11, as in examples/rc20/chase-lev.tpl, with any number of
// thieves: the owner pushes two elements and takes one. Under RC20 two thieves show that the CAS is not
// seq_cst here. Under RA it takes four: the last one only reads, and that orders what the others have done.
// expect: robust ra=no rc20=no tso=yes
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

fn thief[*] {
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
