// A web album on a causally consistent store: the owner hides it from the boss and then adds a photo. The
// boss, who looks again and again, never sees the photo in an album that is open to him. Each look leaves a
// count, which the owner may see late: not robust.
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=no
max_value 1;
global hidden, photo, looks;

fn owner {
    local r;
    hidden.store(1);
    r = looks.load();
    photo.store(1);
    while (1) {
        r = looks.load();
    }
}

fn boss {
    local r;
    while (1) {
        looks.store(1);
        r = photo.load();
        if (r == 1) {
            r = hidden.load();
            assert(r == 1);
        }
    }
}
