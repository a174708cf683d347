// Messages on a causally consistent store: a reader of a reply can read what it replies to. Alice writes that
// her ring is lost, then that it is found; Bob, who sees the second, replies; Carol, who polls for the
// reply, finds both, and says so to Alice, who polls as well.
// expect: verify sc=yes tso=yes sra=yes ra=yes
// expect: robust ra=no
max_value 2;
global ring, glad, gossip;

fn alice {
    local r;
    ring.store(1);
    ring.store(2);
    while (1) {
        r = gossip.load();
    }
}

fn bob {
    wait(ring, 2);
    glad.store(1);
}

fn carol {
    local r;
    while (1) {
        gossip.store(1);
        r = ring.load();
        r = glad.load();
        if (r == 1) {
            r = ring.load();
            assert(r == 2);
        }
    }
}
