// The table of states that several workers share (native/engine/state/shared_states.hpp). Three workers put in
// two states whose hashes collide, one of them both. A record has two words; it is written before its number
// is put into a slot by compare-and-swap.
// expect: robust rc20=yes cpp20=yes
// expect: race ra=no
// expect: assertion sc=no
// computed
max_value 7;
global slot[2];       // 0, or the number of a record + 1
global stored[2];     // how often each state is new
na low[6], high[6];   // the records: worker n has numbers 2n and 2n + 1

fn worker[3] {
    local state, left, next, written, at, entry, l, h, before;
    next = 2 * tid;
    state = 1 + tid % 2;                        // the second worker begins with the other state
    left = 1 + (tid == 0);
    while (left > 0) {
        written = 0;
        at = 0;
        again:
        entry = slot[at].load(acq);
        if (entry == 0) {
            if (!written) {
                low[next].nastore(state);
                high[next].nastore(state);
                written = 1;
            }
            entry = CAS(slot[at], 0, next + 1, rlx, rel, acq);
            if (entry == 0) {
                before = FADD(stored[state - 1], 1);
                assert(before == 0);            // it is stored once
                next += 1;
                goto done;
            }
        }
        l = low[entry - 1].naload();
        h = high[entry - 1].naload();
        assert(l == h);                         // the record is whole
        if (l != state) {
            at += 1;                            // there is a slot for each state, or the index is out of range
            goto again;
        }
        done:
        state = 3 - state;
        left -= 1;
    }
}
