// A ticket lock and three threads.
// mutex: cs
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 2;
global next, serving;

fn p[3] {
    local ticket;
    while (1) {
        ticket = FADD(next, 1);
        wait(serving, ticket);
        cs: serving.store(ticket + 1);
    }
}
