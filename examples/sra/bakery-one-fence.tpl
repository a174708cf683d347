// Lamport's bakery for two threads with the later of its two fences only: a thread can choose its number
// without knowing of one that the other has drawn already.
// mutex: cs
// expect: verify sc=yes tso=no sra=no ra=no
// expect: robust ra=no
max_value 2;
global choosing[2], number[2];

fn p[2] {
    local r, mine;
    while (1) {
        choosing[tid].store(1);
        mine = number[1 - tid].load();
        if (mine == 2) {
            // out of numbers: start again
            choosing[tid].store(0);
        } else {
            mine = mine + 1;
            number[tid].store(mine);
            choosing[tid].store(0);
            fence;
            wait(choosing[1 - tid], 0);
            // of two equal numbers, that of thread 0 comes first
            spin:
            r = number[1 - tid].load();
            if (r != 0 && r < mine + tid) goto spin;
            cs: number[tid].store(0);
        }
    }
}
