// Double-checked initialisation as once.cpp has it: three threads.
// expect: robust rc20=yes
// expect: assertion sc=no
max_value 1;
global ready, mutex, object;

fn worker[3] {
    local r;
    r = ready.load(acq);
    if (r == 0) {
        lock(mutex);
        r = ready.load();
        if (r == 0) {
            object.store(1);
            ready.store(1, rel);
        }
        unlock(mutex);
    }
    r = object.load();
    assert(r == 1);
}
