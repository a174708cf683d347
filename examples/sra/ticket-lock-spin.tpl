// A ticket lock and two threads that spin and meanwhile count the turns that they have seen in a location
// that all can read. The monitoring thread sees the counts late and in no common order, which is harmless
// but not robust.
// mutex: cs
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=no
max_value 1;
global next, serving, seen[2];

fn p[2] {
    local ticket, r;
    while (1) {
        ticket = FADD(next, 1);
        r = serving.load();
        while (r != ticket) {
            seen[tid].store(r);
            r = serving.load();
        }
        cs: serving.store(ticket + 1);
    }
}

fn monitor {
    local r;
    while (1) {
        r = seen[0].load();
        r = seen[1].load();
    }
}
