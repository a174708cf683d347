// How the table grows (native/engine/search/meeting.hpp): workers meet, move the entries of the old slots with
// relaxed operations, and meet again. Each has put in one state, in its own old slot; then each looks for all.
// The two hashes collide in the new table, so the moves compete.
// expect: robust rc20=yes cpp20=yes
// expect: race ra=no
// expect: assertion sc=no
// computed
max_value 3;
global claimed, slot[2], larger[3];
global met, met_again;
na record[2];           // worker n has number n; its state is n

fn worker[2] {
    local entry, taken, at, first, r, found;
    record[tid].nastore(tid + 1);
    CAS(slot[tid], 0, tid + 1, rlx, rel, acq);

    FADD(met, 1, acq, rel);                         // a meeting: all that was done before it
    wait(met, 2, acq);                              // happens before all that comes after it
    first = FADD(claimed, 1);
    while (first < 2) {
        entry = slot[first].load();
        at = 0;
        do { taken = CAS(larger[at], 0, entry); at += 1; } while (taken != 0);
        first = FADD(claimed, 1);
    }
    FADD(met_again, 1, acq, rel);
    wait(met_again, 2, acq);

    at = 0;
    found = 0;
    while (found < 2) {
        entry = larger[at].load(acq);
        assert(entry != 0);                         // no entry is lost
        if (entry == 0) { break; }
        r = record[entry - 1].naload();
        assert(r == entry);                         // the record is whole
        found += 1;
        at += 1;
    }
    entry = larger[2].load(acq);
    assert(entry == 0);                             // none is there twice
}
