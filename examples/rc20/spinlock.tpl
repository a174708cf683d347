// A test-and-set lock, taken by three threads again and again; see spinlock-once.tpl. The definition decides
// only the program with one round, which is that file.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=no
// expect: assertion sc=no
max_value 3;
global lck;
na data;

fn worker[3] {
    local d;
    while (1) {
        BCAS(lck, 0, 1, acq, rlx);
        data.nastore(tid);
        d = data.naload();
        assert(d == tid);
        lck.store(0, rel);
    }
}
