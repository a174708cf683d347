// A barrier for three threads in which each waits for the next one only: not enough for three.
// bad: p[0]@work && p[1]@work && (p[0].round == 0 && p[1].round == 1 || p[0].round == 1 && p[1].round == 0)
// expect: verify sc=no tso=no sra=no ra=no
max_value 3;
global arrived[3];

fn p[3] {
    local round, r;
    while (1) {
        // the work of the round would be here; then say that it is done
        work: arrived[tid].store(1 - round);
        round = 1 - round;
        r = 1 - round;
        while (r != round) {
            r = arrived[(tid + 1) % 3].load();
        }
    }
}
