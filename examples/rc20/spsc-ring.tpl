// A ring buffer with two slots for one producer and one consumer (Lamport 1983; in C++ as in Boost.Lockfree),
// three elements: indices are published with release and read with acquire.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=no
// expect: assertion sc=no
max_value 3;
global head, tail;
na slot0, slot1;

fn producer {
    slot0.nastore(1);
    tail.store(1, rel);
    slot1.nastore(2);
    tail.store(2, rel);
    wait(head, 1, 2, 3, acq);      // slot 0 is free again
    slot0.nastore(3);
    tail.store(3, rel);
}

fn consumer {
    local v;
    wait(tail, 1, 2, 3, acq);
    v = slot0.naload();
    assert(v == 1);
    head.store(1, rel);
    wait(tail, 2, 3, acq);
    v = slot1.naload();
    assert(v == 2);
    head.store(2, rel);
    wait(tail, 3, acq);
    v = slot0.naload();
    assert(v == 3);
    head.store(3, rel);
}
