// The bare memory in mode races: ThreadSanitizer does the operations, so that it sees them. It is given them
// as relaxed, and told apart from that what synchronises, but for writes that release in place
// (races_feed.hpp). It would order the memory by the order it is given, but here the lock of the location
// orders it.
//
// The same functions as in raw_memory.hpp, which includes this one.
#pragma once

#include <cstdint>

// What the linker makes of calls of ThreadSanitizer's own functions where all others lead to ours (--wrap).
#define DECLARE_RMW(bits, T, name) T __real___tsan_atomic##bits##_##name(T volatile*, T, int);
#define DECLARE(bits, T)                                          \
    T __real___tsan_atomic##bits##_load(T const volatile*, int);  \
    void __real___tsan_atomic##bits##_store(T volatile*, T, int); \
    DECLARE_RMW(bits, T, exchange)                                \
    DECLARE_RMW(bits, T, fetch_add)                               \
    DECLARE_RMW(bits, T, fetch_sub)                               \
    DECLARE_RMW(bits, T, fetch_and)                               \
    DECLARE_RMW(bits, T, fetch_or)                                \
    DECLARE_RMW(bits, T, fetch_xor)                               \
    DECLARE_RMW(bits, T, fetch_nand)                              \
    T __real___tsan_atomic##bits##_compare_exchange_val(T volatile*, T, T, int, int);
extern "C" {
DECLARE(8, std::uint8_t)
DECLARE(16, std::uint16_t)
DECLARE(32, std::uint32_t)
DECLARE(64, std::uint64_t)
DECLARE(128, holdfast::Bits128)
}
#undef DECLARE
#undef DECLARE_RMW

namespace holdfast {

inline int given_order(bool release) {
    return release ? __ATOMIC_RELEASE : __ATOMIC_RELAXED;
}

#define RMW(bits, T, name)                                                            \
    template <class Function>                                                         \
    T raw_##name(T volatile* a, T operand, Function, bool release) {                  \
        return __real___tsan_atomic##bits##_##name(a, operand, given_order(release)); \
    }
#define OPERATIONS(bits, T)                                                                                  \
    inline T raw_load(T const volatile* a) {                                                                 \
        return __real___tsan_atomic##bits##_load(a, __ATOMIC_RELAXED);                                       \
    }                                                                                                        \
    inline void raw_store(T volatile* a, T value) {                                                          \
        __real___tsan_atomic##bits##_store(a, value, __ATOMIC_RELAXED);                                      \
    }                                                                                                        \
    inline void raw_store_locked(T volatile* a, T value, bool release) {                                     \
        __real___tsan_atomic##bits##_store(a, value, given_order(release));                                  \
    }                                                                                                        \
    inline T raw_compare_exchange(T volatile* a, T expected, T desired, bool release = false) {              \
        return __real___tsan_atomic##bits##_compare_exchange_val(a, expected, desired, given_order(release), \
                                                                 __ATOMIC_RELAXED);                          \
    }                                                                                                        \
    RMW(bits, T, exchange)                                                                                   \
    RMW(bits, T, fetch_add)                                                                                  \
    RMW(bits, T, fetch_sub)                                                                                  \
    RMW(bits, T, fetch_and)                                                                                  \
    RMW(bits, T, fetch_or)                                                                                   \
    RMW(bits, T, fetch_xor)                                                                                  \
    RMW(bits, T, fetch_nand)
OPERATIONS(8, std::uint8_t)
OPERATIONS(16, std::uint16_t)
OPERATIONS(32, std::uint32_t)
OPERATIONS(64, std::uint64_t)
OPERATIONS(128, Bits128)
#undef OPERATIONS
#undef RMW

}  // namespace holdfast
