// A web album whose visitor looks at the permission first and at the photo afterwards: wrong under every
// model.
// expect: verify sc=no tso=no sra=no ra=no
max_value 1;
global hidden, photo;

fn owner {
    hidden.store(1);
    photo.store(1);
}

fn boss {
    local r;
    while (1) {
        r = hidden.load();
        if (r == 0) {
            r = photo.load();
            assert(r == 0);
        }
    }
}
