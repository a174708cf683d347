// Lamport's bakery for three threads. Bounded: numbers end at 3, and a thread that finds that one taken
// starts again.
// mutex: cs
// expect: verify sc=yes tso=no sra=no ra=no
// expect: robust ra=no
max_value 3;
global choosing[3], number[3];

fn p[3] {
    local r, mine;
    while (1) {
        choosing[tid].store(1);
        mine = number[(tid + 1) % 3].load();
        r = number[(tid + 2) % 3].load();
        if (r > mine) {
            mine = r;
        }
        if (mine == 3) {
            // out of numbers: start again
            choosing[tid].store(0);
        } else {
            mine = mine + 1;
            number[tid].store(mine);
            choosing[tid].store(0);
            // of two equal numbers, that of the lower thread comes first
            wait(choosing[(tid + 1) % 3], 0);
            next:
            r = number[(tid + 1) % 3].load();
            if (r != 0 && r < mine + (tid == 2)) goto next;
            wait(choosing[(tid + 2) % 3], 0);
            last:
            r = number[(tid + 2) % 3].load();
            if (r != 0 && r < mine + (tid != 0)) goto last;
            cs: number[tid].store(0);
        }
    }
}
