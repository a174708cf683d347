// Files that reports go to.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/core/stacks.hpp"
#include "sanitizer/schedule/scheduler.hpp"

namespace fencepost {

class Text;

// A new file; -1 and one line of warning if it cannot be made. %p in the path is the process number.
int open_output(char const* path);

std::uint64_t process_number();

// Where a blocked thread is.
Stack stack_of(scheduler::Blocked const&);

}  // namespace fencepost
