// A test-and-set lock around plain data, with any number of threads.
// expect: robust ra=yes rc20=yes tso=yes
max_value 1;
global locked;
na data;

fn worker[*] {
    local r;
    while (1) {
        BCAS(locked, 0, 1, acq, rlx);
        r = data.naload();
        data.nastore(1 - r);
        locked.store(0, rel);
    }
}
