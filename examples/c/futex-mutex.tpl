// The mutex of futex-mutex.c without the sleeping, which only the kernel sees: three threads, again and
// again.
// expect: robust rc20=yes
// expect: assertion sc=no
max_value 3;
global state, owner;

fn worker[3] {
    local r;
    while (1) {
        r = CAS(state, 0, 1, acq);
        if (r != 0) {
            r = exchange(state, 2, acq);
            while (r != 0) { r = exchange(state, 2, acq); }
        }
        owner.store(tid);
        r = owner.load();
        assert(r == tid);
        r = exchange(state, 0, rel);
    }
}
