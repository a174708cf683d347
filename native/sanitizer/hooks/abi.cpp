// The functions that instrumented code calls: the interface of ThreadSanitizer, and that of <fencepost.h>.
//
// gcc and clang both emit __tsan_atomicN_load, _store, _exchange and _fetch_… and fences. gcc calls
// _compare_exchange_strong and _weak, clang _compare_exchange_val. The order is an int; gcc may set bits for
// hardware lock elision above the lowest three.
#include <cstddef>
#include <cstdint>

#include "sanitizer/core/ordinary.hpp"
#include "sanitizer/hooks/called_operations.hpp"
#include "sanitizer/hooks/operations.hpp"
#include "sanitizer/hooks/runtime.hpp"
#include "sanitizer/hooks/waits.hpp"

using namespace fencepost;

#define FRAME __builtin_frame_address(0)
#define FENCEPOST_API extern "C" [[gnu::visibility("default"), gnu::noinline]]

// In mode races ThreadSanitizer's own functions have these names, and the linker leads calls of them to ours.
#if defined(FENCEPOST_RACES)
#define TSAN(name) __wrap___tsan_##name
#else
#define TSAN(name) __tsan_##name
#endif

template <class T>
[[gnu::always_inline]] static inline T compare_exchange(T volatile* a, T expected, T desired, int success,
                                                        int failure, void const* frame) {
    if (!run_is_ordinary) [[unlikely]]
        return called_cas(a, expected, desired, success, failure, frame);
    return do_cas(a, expected, desired, order_of(success), order_of(failure), frame, true);
}

#define READ_MODIFY_WRITE(bits, type, name, Update, operation)                                   \
    FENCEPOST_API type TSAN(atomic##bits##_##name)(type volatile * a, type operand, int order) { \
        if (!run_is_ordinary) [[unlikely]]                                                       \
            return called_rmw(Operation::operation, a, operand, order, FRAME);                   \
        return do_rmw<Update>(a, operand, order_of(order), FRAME, {}, true);                     \
    }
// Operations that programs hardly ever use.
#define RARE_READ_MODIFY_WRITE(bits, type, name, operation)                                      \
    FENCEPOST_API type TSAN(atomic##bits##_##name)(type volatile * a, type operand, int order) { \
        return called_rmw(Operation::operation, a, operand, order, FRAME);                       \
    }
// A weak compare-exchange is the strong one under a second name.
#define NAME_OF(function) NAME_AS_IT_IS(function)
#define NAME_AS_IT_IS(function) #function
#define COMPARE_EXCHANGE(bits, type)                                                                       \
    FENCEPOST_API int TSAN(atomic##bits##_compare_exchange_strong)(type volatile * a, type * expected,     \
                                                                   type desired, int order, int failure) { \
        type const wanted = *expected;                                                                     \
        type const old = compare_exchange(a, wanted, desired, order, failure, FRAME);                      \
        if (old != wanted) *expected = old;                                                                \
        return old == wanted;                                                                              \
    }                                                                                                      \
    extern "C" [[gnu::visibility("default"),                                                               \
                 gnu::alias(NAME_OF(TSAN(atomic##bits##_compare_exchange_strong)))]] int                   \
        TSAN(atomic##bits##_compare_exchange_weak)(type volatile*, type*, type, int, int);                 \
    FENCEPOST_API type TSAN(atomic##bits##_compare_exchange_val)(type volatile * a, type expected,         \
                                                                 type desired, int order, int failure) {   \
        return compare_exchange(a, expected, desired, order, failure, FRAME);                              \
    }
#define LOAD_AND_STORE(bits, type)                                                            \
    FENCEPOST_API type TSAN(atomic##bits##_load)(type const volatile* a, int order) {         \
        if (!run_is_ordinary) [[unlikely]]                                                    \
            return called_load(a, order, FRAME);                                              \
        return do_load(a, order_of(order), FRAME, true);                                      \
    }                                                                                         \
    FENCEPOST_API void TSAN(atomic##bits##_store)(type volatile * a, type value, int order) { \
        if (!run_is_ordinary) [[unlikely]]                                                    \
            return called_store(a, value, order, FRAME);                                      \
        do_store(a, value, order_of(order), FRAME, true);                                     \
    }
#define ATOMIC(bits, type)                                       \
    LOAD_AND_STORE(bits, type)                                   \
    READ_MODIFY_WRITE(bits, type, exchange, Exchange, exchange)  \
    READ_MODIFY_WRITE(bits, type, fetch_add, Add, add)           \
    READ_MODIFY_WRITE(bits, type, fetch_sub, Subtract, subtract) \
    READ_MODIFY_WRITE(bits, type, fetch_and, And, and_)          \
    READ_MODIFY_WRITE(bits, type, fetch_or, Or, or_)             \
    READ_MODIFY_WRITE(bits, type, fetch_xor, Xor, xor_)          \
    RARE_READ_MODIFY_WRITE(bits, type, fetch_nand, nand)         \
    COMPARE_EXCHANGE(bits, type)

ATOMIC(8, std::uint8_t)
ATOMIC(16, std::uint16_t)
ATOMIC(32, std::uint32_t)
ATOMIC(64, std::uint64_t)

LOAD_AND_STORE(128, Bits128)
RARE_READ_MODIFY_WRITE(128, Bits128, exchange, exchange)
RARE_READ_MODIFY_WRITE(128, Bits128, fetch_add, add)
RARE_READ_MODIFY_WRITE(128, Bits128, fetch_sub, subtract)
RARE_READ_MODIFY_WRITE(128, Bits128, fetch_and, and_)
RARE_READ_MODIFY_WRITE(128, Bits128, fetch_or, or_)
RARE_READ_MODIFY_WRITE(128, Bits128, fetch_xor, xor_)
RARE_READ_MODIFY_WRITE(128, Bits128, fetch_nand, nand)
COMPARE_EXCHANGE(128, Bits128)

FENCEPOST_API void TSAN(atomic_thread_fence)(int order) {
    do_fence(order_of(order), FRAME);
}
FENCEPOST_API void TSAN(atomic_signal_fence)(int) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

// <fencepost.h>
#define BY_SIZE(size, call)          \
    switch (size) {                  \
        case 1: {                    \
            using T = std::uint8_t;  \
            call;                    \
        }                            \
        case 2: {                    \
            using T = std::uint16_t; \
            call;                    \
        }                            \
        case 4: {                    \
            using T = std::uint32_t; \
            call;                    \
        }                            \
        default: {                   \
            using T = std::uint64_t; \
            call;                    \
        }                            \
    }

FENCEPOST_API std::uint64_t __fencepost_wait(void volatile* a, std::size_t size, int order, std::size_t count,
                                             std::uint64_t const* values){
    BY_SIZE(size,
            return do_wait(static_cast<T volatile*>(a), order_of(order), values, count, FRAME))} FENCEPOST_API
    void __fencepost_bcas(void volatile* a, std::size_t size, std::uint64_t expected, std::uint64_t desired,
                          int order){
        BY_SIZE(size,
                return do_bcas(static_cast<T volatile*>(a), static_cast<T>(expected), static_cast<T>(desired),
                               order_of(order), FRAME))} FENCEPOST_API std::uint64_t
    __fencepost_cas(void volatile* a, std::size_t size, std::uint64_t expected, std::uint64_t desired,
                    int success, int failure){
        BY_SIZE(size, return do_cas(static_cast<T volatile*>(a), static_cast<T>(expected),
                                    static_cast<T>(desired), order_of(success), order_of(failure),
                                    FRAME))} FENCEPOST_API std::uint32_t __fencepost_choose(std::uint32_t n) {
    return choose(n);
}
