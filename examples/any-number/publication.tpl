// One thread publishes data behind a flag; any number of readers wait for it.
// expect: robust ra=yes rc20=yes tso=yes
max_value 1;
global ready;
na data;

fn publisher {
    data.nastore(1);
    ready.store(1, rel);
}

fn reader[*] {
    local r;
    wait(ready, 1, acq);
    r = data.naload();
    assert(r == 1);
}
