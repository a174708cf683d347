// The test-and-test-and-set lock of spinlock.cpp: three threads, again and again.
// expect: robust rc20=yes
// expect: assertion sc=no
max_value 3;
global held, owner;

fn worker[3] {
    local r;
    while (1) {
        r = exchange(held, 1, acq);
        while (r) {
            while (r) { r = held.load(); }
            r = exchange(held, 1, acq);
        }
        owner.store(tid);
        r = owner.load();
        assert(r == tid);
        held.store(0, rel);
    }
}
