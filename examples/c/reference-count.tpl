// The reference count of reference-count.cpp: two owners copy their reference, use the object and drop both;
// the one that drops the last reference destroys the object. Each uses a part of its own.
// expect: robust rc20=yes
// expect: assertion sc=no
max_value 7;
global count=2, part[2];

fn owner[2] {
    local r, dropped;
    FADD(count, 1);
    while (dropped < 2) {
        part[tid].store(1);
        r = FADD(count, -1, rel);
        if (r == 1) {
            fence(acq);
            r = part[0].load();
            assert(r == 1);
            r = part[1].load();
            assert(r == 1);
            part[0].store(2);
            part[1].store(2);
        }
        dropped = dropped + 1;
    }
}
