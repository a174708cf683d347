// Accesses to different locations do not race, though two are next at the same time.
global x, y;
na d, e;

fn left {
    local r;
    d.nastore(1);
    x.store(1);
    wait(y, 1);
    r = e.naload();
}

fn right {
    local r;
    e.nastore(1);
    y.store(1);
    wait(x, 1);
    r = d.naload();
}
