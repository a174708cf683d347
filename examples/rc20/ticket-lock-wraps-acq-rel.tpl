// The ticket lock of ticket-lock-wraps.tpl with an acquire-release draw: a thread that draws knows who
// was served before.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=no
// expect: assertion sc=no
max_value 1;
global next, serving;
na data;

fn twice {
    local ticket;
    ticket = FADD(next, 1, acq, rel);
    wait(serving, ticket, acq);
    data.nastore(0);
    serving.store(ticket + 1, rel);
    ticket = FADD(next, 1, acq, rel);
    wait(serving, ticket, acq);
    data.nastore(0);
    serving.store(ticket + 1, rel);
}

fn once {
    local ticket, d;
    ticket = FADD(next, 1, acq, rel);
    wait(serving, ticket, acq);
    data.nastore(1);
    d = data.naload();
    assert(d == 1);
    serving.store(ticket + 1, rel);
}
