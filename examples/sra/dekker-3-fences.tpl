// Dekker's idea without the turn for three threads, with a fence between raising one's flag and looking at
// the others'.
// mutex: cs
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 3;
global flag[3];

fn p[3] {
    local r;
    while (1) {
        flag[tid].store(1);
        fence;
        r = flag[(tid + 1) % 3].load();
        if (r == 1) goto retreat;
        r = flag[(tid + 2) % 3].load();
        if (r == 1) goto retreat;
        cs: flag[tid].store(0);
        goto again;
        retreat: flag[tid].store(0);
        again:
    }
}
