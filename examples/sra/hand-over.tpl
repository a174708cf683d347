// Two threads hand a token to and fro, each through a gate of its own, as the queue lock of Mellor-Crummey
// and Scott does once it has waiters. A thread with the token may read and write the data freely.
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 1;
global gate[2]={1, 0}, data;

fn p[2] {
    local r;
    while (1) {
        wait(gate[tid], 1);
        gate[tid].store(0);
        r = data.load();
        assert(r == tid);
        data.store(1 - tid);
        gate[1 - tid].store(1);
    }
}
