// A lock that looks before it tries: the loads spin in the cache.
// expect: robust ra=yes rc20=yes tso=yes
max_value 1;
global locked;
na data;

fn worker[*] {
    local r, got;
    while (1) {
        got = 1;
        while (got != 0) {
            wait(locked, 0, rlx);
            got = locked.exchange(1, acq);
        }
        r = data.naload();
        data.nastore(1 - r);
        locked.store(0, rel);
    }
}
