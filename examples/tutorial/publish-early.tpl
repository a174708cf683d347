// Message passing with the two stores swapped: the flag is raised too early.
// expect: robust ra=yes
// expect: race ra=yes
// expect: assertion sc=yes
max_value 7;
global ready;
na data;

fn producer {
    ready.store(1, rel);
    data.nastore(7);
}

fn consumer {
    local r;
    wait(ready, 1, acq);
    r = data.naload();
    assert(r == 7);
}
