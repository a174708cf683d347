// The beginning and the end of the library in a process.
#pragma once

#include <cstdint>

namespace fencepost {

// Before anything else of the program, static constructors included; further calls do nothing.
void start_runtime();

// A number below n: under a schedule from its seed, else at random.
std::uint32_t choose(std::uint32_t n);

}  // namespace fencepost

// Programs may define these, as for ThreadSanitizer, which calls them itself in mode races: at the beginning,
// and at the end, where the answer says whether the program has failed.
extern "C" void __tsan_on_initialize();
extern "C" int __tsan_on_finalize(int failed);
