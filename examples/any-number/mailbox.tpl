// A hand-off mailbox with one slot: any number of senders, any number of receivers.
// expect: robust ra=yes rc20=yes tso=yes
max_value 3;
global slot;  // 0 empty, 1 being filled, 2 full, 3 being emptied
na letter;

fn sender[*] {
    while (1) {
        BCAS(slot, 0, 1, acq, rlx);
        letter.nastore(1);
        slot.store(2, rel);
    }
}

fn receiver[*] {
    local r;
    while (1) {
        BCAS(slot, 2, 3, acq, rlx);
        r = letter.naload();
        assert(r == 1);
        letter.nastore(0);
        slot.store(0, rel);
    }
}
