// A ticket lock (Mellor-Crummey and Scott 1991) as in C11: the draw is relaxed, the hand-over
// release/acquire. Each thread enters once.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=no
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
    serving.store(ticket + 1, rel);
}
