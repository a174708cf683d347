// Dijkstra's mutual exclusion with one fence per thread, between saying that it looks and looking. The turn
// may be seen late: that delays threads, and lets none in.
// mutex: cs
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=no
max_value 2;
global flag[2], turn;

fn p[2] {
    local r;
    while (1) {
        // 1: wants to enter; 2: is looking whether it may
        flag[tid].store(1);
        again:
        r = turn.load();
        if (r != tid) {
            r = flag[1 - tid].load();
            if (r == 0) {
                turn.store(tid);
            }
            goto again;
        }
        flag[tid].store(2);
        fence;
        r = flag[1 - tid].load();
        if (r != 2) {
            cs: flag[tid].store(0);
        }
    }
}
