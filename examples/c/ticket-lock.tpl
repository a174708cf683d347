// The ticket lock of ticket-lock.c: three threads, again and again.
// expect: robust rc20=yes
// expect: assertion sc=no
max_value 3;
global next, serving, owner;

fn worker[3] {
    local t, r;
    while (1) {
        t = FADD(next, 1, acq, rel);
        r = serving.load(acq);
        while (r != t) { r = serving.load(acq); }
        owner.store(tid);
        r = owner.load();
        assert(r == tid);
        serving.store(t + 1, rel);
    }
}
