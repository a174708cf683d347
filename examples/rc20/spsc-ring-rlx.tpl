// The ring buffer of spsc-ring.tpl with relaxed indices: the slots race.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=yes
// expect: assertion sc=no
max_value 3;
global head, tail;
na slot0, slot1;

fn producer {
    slot0.nastore(1);
    tail.store(1, rlx);
    slot1.nastore(2);
    tail.store(2, rlx);
    wait(head, 1, 2, 3, rlx);      // slot 0 is free again
    slot0.nastore(3);
    tail.store(3, rlx);
}

fn consumer {
    local v;
    wait(tail, 1, 2, 3, rlx);
    v = slot0.naload();
    assert(v == 1);
    head.store(1, rlx);
    wait(tail, 2, 3, rlx);
    v = slot1.naload();
    assert(v == 2);
    head.store(2, rlx);
    wait(tail, 3, rlx);
    v = slot0.naload();
    assert(v == 3);
    head.store(3, rlx);
}
