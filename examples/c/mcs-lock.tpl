// The queue lock of Mellor-Crummey and Scott (1991) as mcs-lock.c has it: three threads, again and again.
// Nodes are numbered by thread from 1; 0 is no node.
// expect: robust rc20=yes
// expect: assertion sc=no
max_value 3;
global tail, next[4], blocked[4], owner;

fn worker[3] {
    local me, p, r;
    me = tid + 1;
    while (1) {
        next[me].store(0);
        p = exchange(tail, me, acq, rel);
        if (p) {
            blocked[me].store(1);
            next[p].store(me, rel);
            r = blocked[me].load(acq);
            while (r) { r = blocked[me].load(acq); }
        }
        owner.store(me);
        r = owner.load();
        assert(r == me);
        r = next[me].load(acq);
        if (r == 0) {
            p = CAS(tail, me, 0, acq, rel);
            if (p != me) {
                while (r == 0) { r = next[me].load(acq); }
            }
        }
        if (r) {
            blocked[r].store(0, rel);
        }
    }
}
