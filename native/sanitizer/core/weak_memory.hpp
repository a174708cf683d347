// Weak executions: loads may read older writes than the newest, as far as C++20 allows it.
//
// The clocks of robustness.hpp say what *could* happen next after a run that has kept to the newest writes.
// Here it happens, and the run goes on. So each write is kept with its message, and what a thread knows is
// kept as it is in the definition (models/cpp20.py): a view maps each location to the newest write that the
// thread must not overlook. Stores and read-modify-writes take the end of the modification order, so not all
// executions of C++20 are made, but all that are made are executions of C++20:
//
//   C, A, R, W          as in robustness.hpp, W of each write
//   load of x           may read a write w that is not before C[x] if S, below, allows it; learns W of w
//   failing CAS of x    is a load that reads a write of another value than it expects
//
// S is a relation over SC events (sc_order.hpp). With each view travel, as C does,
//
//   P   the SC events that strongly happen before the thread's next event
//   F   the SC fences that happen before it
//
// and before in S are:
//
//   P, before a seq_cst access or SC fence        (P as it was before what that access or fence acquires)
//   what is eco-before an access, before it if it is seq_cst, and before each SC fence that it happens before
//   - eco-before the access that reads or makes write w of x are the writes up to w and the reads of earlier
//     ones; of each of them counts the access itself if it is seq_cst, and its F
//   - a load that reads an old write is besides eco-before all newer writes and their reads
//
// A message has P without its own access, as in robustness.hpp.
//
// Only the thread whose turn it is comes here, so there are no locks. Where the rules cannot follow (a thread
// beside the schedule, too many locations), `on` becomes false and the run keeps to the newest writes from
// there on, which is always allowed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/core/locations.hpp"
#include "sanitizer/core/orders.hpp"
#include "sanitizer/core/threads.hpp"

namespace fencepost::weak {

extern bool on;
// A load has read an old write: what robustness.hpp says of the run is no longer true.
extern bool has_read_old;

void start();
void stop();

using Value = unsigned __int128;

class Location;

// An access to memory that holds `newest` now. Null: the rules cannot follow any more.
Location* locate(LockedCell const&, std::uintptr_t address, Value newest, std::size_t size);

// The writes that a load may read: how many steps each is behind the newest. The newest comes first.
inline constexpr std::size_t most_choices = 32;
struct Choices {
    std::uint32_t count;
    std::uint32_t age[most_choices];
};
void find_choices(Thread const&, Location const&, Order, Choices&);
// The same for a compare-exchange that expects this value: old writes only by which it fails.
void find_choices_to_fail(Thread const&, Location const&, Order failure, Value expected, Choices&);

// Where the writes were made that a load has missed, as numbers of stacks (stacks.hpp); the newest comes
// first.
struct MissedWrites {
    std::uint32_t count;
    std::uint32_t stack[most_choices];
};
void find_missed(Location const&, std::uint32_t age, MissedWrites&);

struct ReadWrite {
    Value value;
    RaceMessage* message;
};
ReadWrite read(Thread const&, Location&, Order, std::uint32_t age);
// `stack` is the number of that of the write.
struct NewWrite {
    Value value;
    bool is_rmw;
    std::uint32_t stack = 0;
};
void write(Thread const&, Location&, Order, NewWrite const&, RaceMessage const&);
void fence(Thread const&, Order);

// Objects that synchronise as a whole.
void acquire_object(Thread const&, Cell const&);
void release_object(Thread const&, Cell const&);
void thread_made(Thread const& parent, Thread const& child);
void thread_joined(Thread const&, Thread const& child);
// The thread learns what another knows, which lives on.
void learn_from(Thread const&, Thread const& other);

}  // namespace fencepost::weak
