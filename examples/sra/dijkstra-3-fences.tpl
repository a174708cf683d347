// Dijkstra's mutual exclusion for three threads, with one fence per thread. The turn may be seen late and
// written by two at once: that delays threads, and lets none in.
// mutex: cs
// expect: verify sc=yes tso=yes sra=yes
// expect: robust ra=no
max_value 3;
global flag[3], turn;

fn p[3] {
    local r;
    while (1) {
        // 1: wants to enter; 2: is looking whether it may
        flag[tid].store(1);
        again:
        r = turn.load();
        if (r != tid) {
            r = flag[r].load();
            if (r == 0) {
                turn.store(tid);
            }
            goto again;
        }
        flag[tid].store(2);
        fence;
        r = flag[(tid + 1) % 3].load();
        if (r != 2) {
            r = flag[(tid + 2) % 3].load();
            if (r != 2) {
                cs: flag[tid].store(0);
            }
        }
    }
}
