// Message passing: the data is ready before the flag says so.
// expect: robust ra=yes
// expect: race ra=no
// expect: assertion sc=no
max_value 7;
global ready;
na data;

fn producer {
    data.nastore(7);
    ready.store(1, rel);
}

fn consumer {
    local r;
    wait(ready, 1, acq);
    r = data.naload();
    assert(r == 7);
}
