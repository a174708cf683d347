// What strongly happens before must travel with the message that an acquire read takes: without P in messages
// the answer is another one.
max_value 3;
global x, y;

fn t0 {
    local r;
    y.store(1, seq_cst);
    x.store(1, seq_cst);
    fence;
    r = x.load(acq);
}

fn t1 {
    local r;
    x.store(1, seq_cst);
    r = wait(x, 2, acq);
    y.store(1, seq_cst);
}

fn t2 {
    local r;
    x.store(1, seq_cst);
    r = FADD(x, 1, seq_cst);
}
