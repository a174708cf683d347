// A ticket lock (Mellor-Crummey and Scott 1991) with relaxed draws whose numbers come round, here after two:
// the second thread can draw 0 again and still read the first `serving`, which was 0 too. With 32 bits it
// takes that many draws while a thread stands still; with an acquire-release draw it cannot happen
// (ticket-lock-wraps-acq-rel.tpl).
// expect: robust ra=yes rc20=no
// expect: race ra=no rc20=no
// expect: assertion sc=no
max_value 1;
global next, serving;
na data;

fn twice {
    local ticket;
    ticket = FADD(next, 1, rlx, rlx);
    wait(serving, ticket, acq);
    data.nastore(0);
    serving.store(ticket + 1, rel);
    ticket = FADD(next, 1, rlx, rlx);
    wait(serving, ticket, acq);
    data.nastore(0);
    serving.store(ticket + 1, rel);
}

fn once {
    local ticket, d;
    ticket = FADD(next, 1, rlx, rlx);
    wait(serving, ticket, acq);
    data.nastore(1);
    d = data.naload();
    assert(d == 1);
    serving.store(ticket + 1, rel);
}
