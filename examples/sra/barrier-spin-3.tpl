// A barrier with busy loops for three threads, round after round; the number of the round is one bit. No
// thread works in one round while another works in the next; by symmetry it is enough to ask about two of
// them.
// bad: p[0]@work && p[1]@work && (p[0].round == 0 && p[1].round == 1 || p[0].round == 1 && p[1].round == 0)
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=no
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
        r = 1 - round;
        while (r != round) {
            r = arrived[(tid + 2) % 3].load();
        }
    }
}
