// A ticket lock (Reed and Kanodia 1979) and two threads. Numbers wrap around, which is harmless as long as
// there are as many as threads.
// mutex: cs
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 1;
global next, serving;

fn p[2] {
    local ticket;
    while (1) {
        ticket = FADD(next, 1);
        wait(serving, ticket);
        cs: serving.store(ticket + 1);
    }
}
