// Two threads publish a structure each before it is filled.
// expect: verify sc=no tso=no sra=no ra=no
max_value 1;
global current[2], node[2];

fn p[2] {
    local r;
    current[tid].store(1);
    node[tid].store(1);
    while (1) {
        r = current[1 - tid].load();
        if (r == 1) {
            r = node[1 - tid].load();
            assert(r == 1);
        }
    }
}
