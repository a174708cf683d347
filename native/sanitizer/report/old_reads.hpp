// Loads that have read an old write in a weak execution (core/weak_memory.hpp): said as they happen, so that
// a run that fails shows why.
#pragma once

#include <cstdint>

#include "sanitizer/core/threads.hpp"
#include "sanitizer/core/weak_memory.hpp"
#include "sanitizer/report/findings.hpp"

namespace fencepost {

// `newest` is the value of the newest write. In a hook, no lock being held.
void report_old_read(Thread const&, AccessNote const&, std::uint64_t newest, weak::MissedWrites const&);

}  // namespace fencepost
