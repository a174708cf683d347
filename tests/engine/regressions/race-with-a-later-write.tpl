// The write depends on the read with which it races, so there is no other run that shows the race.
global x;
na d;

fn reader {
    local r;
    r = d.naload();
    x.store(1, rlx);
}

fn writer {
    wait(x, 1, rlx);
    d.nastore(1);
}
