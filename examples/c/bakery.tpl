// Lamport's bakery (1974) as bakery.c has it, for two threads that enter twice.
// expect: robust rc20=yes
// expect: assertion sc=no
max_value 7;
global choosing[2], number[2], owner;

fn worker[2] {
    local n, m, round;
    while (round < 2) {
        choosing[tid].store(1);
        fence(seq_cst);
        n = number[1 - tid].load();
        n = n + 1;
        number[tid].store(n);
        choosing[tid].store(0, rel);
        fence(seq_cst);
        wait(choosing[1 - tid], 0, acq);
        m = number[1 - tid].load(acq);
        while (m != 0 && (m < n || (m == n && tid == 1))) {
            m = number[1 - tid].load(acq);
        }
        owner.store(tid);
        m = owner.load();
        assert(m == tid);
        number[tid].store(0, rel);
        round = round + 1;
    }
}
