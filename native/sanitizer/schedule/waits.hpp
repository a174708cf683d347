// Waiting threads, and how waits end: by a wake, by time, by the world outside the schedule, or never.
#pragma once

#include <cstdint>

#include "sanitizer/schedule/state.hpp"

namespace fencepost::scheduler::detail {

void start_waits();
// In the child of a fork: nobody is runnable or blocked.
void forget_waits();

void make_blocked(Thread&);

// A woken thread whose wait is not over after all cannot go on.
bool can_go_on(Thread const&);
End how_it_ends(Thread const&);

// It may be able to go on because of something that was done to it, not to what it waits for.
void reconsider(Thread&);

// Signals that were sent to the thread (pthread_kill) and that it does not block.
std::uint64_t deliverable_signals(Thread const&);

// The step at which time or the outside must be looked at, and doing so.
extern std::uint64_t next_look;
void look();

// A thread that waits for the outside went on here in the run that is repeated: waits until it can. False if
// it still cannot after some seconds.
bool await_outside(Thread&);

// Somebody beside the schedule woke somebody.
bool woken_from_outside();
void ask_everybody();

// In an exploration time runs out by choice. True if it has; otherwise the wait has no limit any more.
bool chosen_to_run_out(Wait&);
void pass_time_until(std::int64_t deadline);

// Nobody can run: waits until somebody can, or reports a deadlock.
void find_runnable();

// The choice among those that wait is drawn from here.
extern Random choices;

}  // namespace fencepost::scheduler::detail
