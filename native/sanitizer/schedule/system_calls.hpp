// System calls made by number, while a schedule is active: C++20's waits and the C++ library's guards of
// static variables are futexes.
#pragma once

#include <cstddef>

namespace fencepost::scheduler {

// Does the schedule answer the call? If so, with the kernel's result: negative errors. Only if active().
bool system_call(long number, long const (&arguments)[6], long& result);

// Bytes that depend on the seed only.
void fill_by_chance(void* buffer, std::size_t bytes);

}  // namespace fencepost::scheduler
