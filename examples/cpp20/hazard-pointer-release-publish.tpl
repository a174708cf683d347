// expect: robust cpp20=no
// expect: race cpp20=no
// The hazard is published with release only: it can be overlooked. Verdicts computed.
max_value 2;
global head = 1, hazard;
na node;
fn reader {
    local p, q;
    p = head.load(acq);
    hazard.store(p, rel); q = head.load(sc);
    if (p == 1 && q == 1) { p = node.naload(); }
    hazard.store(0, rel);
}
fn reclaimer {
    local h;
    head.store(2, sc); h = hazard.load(sc);
    if (h != 1) { node.nastore(0); }
}
