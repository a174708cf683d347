// Dijkstra's mutual exclusion (Dijkstra, Solution of a problem in concurrent programming control, 1965),
// with its two flags per thread as one of three values as in Lynch, Distributed algorithms, 1996.
// mutex: cs
// expect: verify sc=yes tso=no sra=no ra=no
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
        r = flag[1 - tid].load();
        if (r != 2) {
            cs: flag[tid].store(0);
        }
    }
}
