// A ticket lock (Mellor-Crummey and Scott 1991) that is handed over by a relaxed store: a race.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=yes
// expect: assertion sc=no
max_value 3;
global next, serving;
na data;

fn worker[2] {
    local ticket, d;
    ticket = FADD(next, 1, rlx, rlx);
    wait(serving, ticket, acq);
    data.nastore(tid);
    d = data.naload();
    assert(d == tid);
    serving.store(ticket + 1, rlx);
}
