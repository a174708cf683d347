// The register that makes the division fail is read there, so it is alive at the access before.
global x;

fn t {
    local r, s;
    r = x.load();
    s = x.load();
    s = 5 / r;
    x.store(s);
}
