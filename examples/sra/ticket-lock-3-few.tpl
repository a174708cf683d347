// A ticket lock with two numbers for three threads: two of them can hold the same one.
// mutex: cs
// expect: verify sc=no tso=no sra=no ra=no
max_value 1;
global next, serving;

fn p[3] {
    local ticket;
    while (1) {
        ticket = FADD(next, 1);
        wait(serving, ticket);
        cs: serving.store(ticket + 1);
    }
}
