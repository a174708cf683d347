// Instructions and types of the processor that C++ lacks.
#pragma once

#include <cstdint>

namespace fencepost {

__extension__ typedef unsigned __int128 Bits128;

inline void pause_processor() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

inline std::uint64_t now_in_ticks() {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    std::uint64_t ticks;
    asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
}

// So that a line does not come for reading first.
inline void prefetch_to_write(void const* line) {
#if defined(__x86_64__)
    asm("prefetchw %0" : : "m"(*static_cast<char const*>(line)));
#else
    __builtin_prefetch(line, 1);
#endif
}

}  // namespace fencepost
