// Three threads hand a token round, each through a gate of its own. Its owner finds the data as the
// one before has left it.
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=yes
max_value 3;
global gate[3]={1, 0, 0}, data;

fn p[3] {
    local r;
    while (1) {
        wait(gate[tid], 1);
        gate[tid].store(0);
        r = data.load();
        assert(r == tid);
        data.store((tid + 1) % 3);
        gate[(tid + 1) % 3].store(1);
    }
}
