// The bounded queue of mpmc-ring.cpp with two cells: two producers and two consumers, again and again.
// Positions wrap around.
// expect: robust rc20=no
max_value 7;
global enqueue, dequeue, seq[2]={0, 1}, cell[2];

fn producer[2] {
    local p, s, r;
    while (1) {
        p = enqueue.load();
        s = seq[p % 2].load(acq);
        if (s == p) {
            r = CAS(enqueue, p, p + 1);
            if (r == p) {
                cell[p % 2].store(1);
                seq[p % 2].store(p + 1, rel);
            }
        }
    }
}

fn consumer[2] {
    local p, s, r;
    while (1) {
        p = dequeue.load();
        s = seq[p % 2].load(acq);
        if (s == ((p + 1) & 7)) {
            r = CAS(dequeue, p, p + 1);
            if (r == p) {
                r = cell[p % 2].load();
                seq[p % 2].store(p + 2, rel);
            }
        }
    }
}
