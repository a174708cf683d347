// Loops that wait, found while the program runs: the same thread repeats the same load at the same place, or
// the same read-modify-write that leaves memory as it was (a CAS that fails, a test-and-set of what is set),
// and nothing else of its own lies between. A round of such a loop that sees an old value only goes round
// once more, so it does no harm, unless the old value would have ended the loop. That is the paper's wait
// (rsan-2025, section 4.3) without its annotation.
//
// A load that could read an old value is therefore not reported at once but when the process ends, and not at
// all if its place has turned out to wait and none of the old values is known to end it: neither what this
// load has read itself, nor a value that ended another wait at this place and was never seen to prolong one.
// A CAS that could fail, or a test-and-set that could find the flag set, is treated alike: that only prolongs
// the loop. `await_loops=0` switches all this off.
//
// Limits. A place is known to wait only if some thread has gone round there in this run, or, where symbols
// are looked up, at another copy of the same line and column (inlining makes copies). An old value that would
// end the loop, but has never been seen to do so, is overlooked. A loop that repeats a load for another
// reason (it counts what it sees) is taken for one that waits. Loops over several loads are not found.
// <fencepost.h> says what is meant, without these limits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/core/threads.hpp"
#include "sanitizer/system/text.hpp"

namespace fencepost {

// Is the thread about to repeat its last access?
inline bool goes_round(Thread const& t, std::uintptr_t pc, std::uintptr_t address) {
    return t.await.pc == pc && t.await.address == address;
}

// The thread does something that is no round of a loop.
void end_await(Thread&);
inline void interrupt_await(Thread& t) {
    if (t.await.rounds != 0) [[unlikely]]
        end_await(t);
    t.await.pc = 0;
}

// A load, or an RMW that changed nothing, at this place has seen this value.
void next_round(Thread&, std::uintptr_t pc, std::uint64_t value);
[[gnu::always_inline]] inline void note_round(Thread& t, std::uintptr_t pc, std::uintptr_t address,
                                              std::uint64_t value) {
    if (!goes_round(t, pc, address)) {
        interrupt_await(t);
        t.await.pc = pc;
        t.await.address = address;
        t.await.value = value;
        t.await.rounds = 0;
        t.await.reader = {};  // the rest of what it noted says nothing then
    } else if (t.await.rounds == 0 || t.await.value != value) {
        next_round(t, pc, value);
    }
}

// Likewise for an RMW, of which `again` says that it goes round. What changes the location ends the loop.
[[gnu::always_inline]] inline void note_update(Thread& t, std::uintptr_t pc, std::uintptr_t address,
                                               std::uint64_t value, bool again, bool changes) {
    if (again || !changes) note_round(t, pc, address, value);
    if (changes) interrupt_await(t);
}

bool is_await(std::uintptr_t pc);

// Has the value been seen to end a wait at this place, and never to prolong one?
bool ends_await(std::uintptr_t pc, std::uint64_t value);

// A place that waits and is a copy of this one; 0 if there is none.
std::uintptr_t find_copy_of(std::uintptr_t pc, bool (*is_copy)(std::uintptr_t known, std::uintptr_t pc));

// One line of JSON per place that waits, with the values that only end it, and those that only prolong it.
// Python needs them: it looks up symbols, and leaves out findings at other copies of the place; and what one
// run has seen a value do, it knows of the others, in which the loop may have ended in its first round.
void json_awaits(Text&);

}  // namespace fencepost
