// A lock that is taken with a load and a store: wrong under every model.
// mutex: cs
// expect: verify sc=no tso=no sra=no ra=no
max_value 1;
global lck;

fn p[2] {
    while (1) {
        wait(lck, 0);
        lck.store(1);
        cs: lck.store(0);
    }
}
