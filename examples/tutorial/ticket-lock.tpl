// A ticket lock that three threads take again and again: draw a number, wait until it is served.
// expect: robust ra=yes
// expect: race ra=no
// expect: assertion sc=no
max_value 3;
global next, serving;
na owner;

fn worker[3] {
    local ticket, o;
    while (1) {
        ticket = FADD(next, 1, acq, rel);
        wait(serving, ticket, acq);
        owner.nastore(tid);
        o = owner.naload();
        assert(o == tid);
        serving.store(ticket + 1, rel);
    }
}
