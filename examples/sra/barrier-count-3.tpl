// A barrier with a counter and a sense (Mellor-Crummey and Scott 1991) for three threads, round after round:
// the last to arrive resets the counter and turns the sense.
// bad: p[0]@work && p[1]@work && (p[0].round == 0 && p[1].round == 1 || p[0].round == 1 && p[1].round == 0)
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 3;
global count, sense;

fn p[3] {
    local round, r;
    while (1) {
        work: r = FADD(count, 1);
        round = 1 - round;
        if (r == 2) {
            // the last one opens the barrier
            count.store(0);
            sense.store(round);
        } else {
            wait(sense, round);
        }
    }
}
