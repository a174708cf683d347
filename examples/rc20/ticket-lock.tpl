// A ticket lock (Mellor-Crummey and Scott 1991) as in C11, taken again and again. The draw is
// acquire-release, since tickets come round after four draws; see ticket-lock-wraps.tpl. The definition
// decides only the program with few rounds, which is ticket-lock-wraps-acq-rel.tpl.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=no
// expect: assertion sc=no
max_value 3;
global next, serving;
na data;

fn worker[2] {
    local ticket, d;
    while (1) {
        ticket = FADD(next, 1, acq, rel);
        wait(serving, ticket, acq);
        data.nastore(tid);
        d = data.naload();
        assert(d == tid);
        serving.store(ticket + 1, rel);
    }
}
