// Which thread runs next: the random walk, PCT, and the replay of a file. scheduler.cpp then switches to it.
#pragma once

#include <cstdint>

#include "sanitizer/schedule/state.hpp"

namespace fencepost::scheduler::strategy {

void start(Settings const&);

// A thread has been created; some thread can run that could not.
void created(detail::Thread&);
void can_run();

// One of the runnable threads, of which there is at least one. `current` asks, and is null if it cannot go
// on; if it yields, the others come first.
detail::Thread& next(detail::Thread* current, bool yields);

}  // namespace fencepost::scheduler::strategy
