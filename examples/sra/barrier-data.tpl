// A barrier with busy loops for two threads, and the data that it is for: what each writes before it, the
// other reads after it. Rounds are counted modulo 4. Two cells take turns, since the other may be one round
// ahead already when we read.
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=no
max_value 3;
global arrived[2], part[4];

fn p[2] {
    local round, r;
    while (1) {
        part[2 * tid + (round + 1) % 2].store(round + 1);
        arrived[tid].store(round + 1);
        spin:
        r = arrived[1 - tid].load();
        if (r == round) goto spin;
        round = round + 1;
        r = part[2 * (1 - tid) + round % 2].load();
        assert(r == round);
    }
}
