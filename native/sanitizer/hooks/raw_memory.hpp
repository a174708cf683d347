// The bare memory: operations of all sizes without any rule. Orders are at least those asked for: where a
// lock of the library is held it orders, elsewhere everything is seq_cst. Mode races has the same functions
// over ThreadSanitizer's, which also needs the place in the program; and there `release` says that it is to
// keep what the thread knows (races/feed.hpp).
#pragma once

#include <cstdint>

#include "sanitizer/system/processor.hpp"

namespace fencepost {

// A value as a number that is the same for the same value; 16 bytes are mixed into 8.
template <class T>
std::uint64_t to_bits(T value) {
    if constexpr (sizeof(T) == 16)
        return static_cast<std::uint64_t>(value) ^
               static_cast<std::uint64_t>(value >> 64) * 0x9e3779b97f4a7c15u;
    else
        return static_cast<std::uint64_t>(value);
}

// The value, for the library's own eyes only.
template <class T>
T peek(T const volatile* a) {
    if constexpr (sizeof(T) == 16)
        return __sync_val_compare_and_swap(const_cast<T volatile*>(a), T{0}, T{0});
    else
        return __atomic_load_n(a, __ATOMIC_SEQ_CST);
}

}  // namespace fencepost

#if defined(FENCEPOST_RACES)
#include "sanitizer/races/memory.hpp"
#else

namespace fencepost {

template <class T>
T raw_load(T const volatile* a, std::uintptr_t = 0) {
    return peek(a);
}

template <class T>
T raw_compare_exchange(T volatile* a, T expected, T desired, std::uintptr_t = 0, bool = false) {
    return __sync_val_compare_and_swap(a, expected, desired);
}

// Replaces the value by update(value); gives the old one.
template <class T, class Update>
T raw_update(T volatile* a, Update update) {
    for (T old = raw_load(a);;) {
        T const seen = raw_compare_exchange(a, old, update(old));
        if (seen == old) return old;
        old = seen;
    }
}

template <class T>
void raw_store(T volatile* a, T value) {
    if constexpr (sizeof(T) == 16)
        raw_update(a, [&](T) { return value; });
    else
        __atomic_store_n(a, value, __ATOMIC_SEQ_CST);
}

// raw_fetch_add and its like: the operation with this operand, which is function(old). Gives the old value.
#define READ_MODIFY_WRITE(name)                                                                   \
    template <class T, class Function>                                                            \
    T raw_##name(T volatile* a, T operand, Function function, std::uintptr_t = 0, bool = false) { \
        if constexpr (sizeof(T) == 16)                                                            \
            return raw_update(a, function);                                                       \
        else                                                                                      \
            return __atomic_##name(a, operand, __ATOMIC_SEQ_CST);                                 \
    }
READ_MODIFY_WRITE(fetch_add)
READ_MODIFY_WRITE(fetch_sub)
READ_MODIFY_WRITE(fetch_and)
READ_MODIFY_WRITE(fetch_or)
READ_MODIFY_WRITE(fetch_xor)
READ_MODIFY_WRITE(fetch_nand)
#undef READ_MODIFY_WRITE

template <class T, class Function>
T raw_exchange(T volatile* a, T value, Function function, std::uintptr_t = 0, bool = false) {
    if constexpr (sizeof(T) == 16)
        return raw_update(a, function);
    else
        return __atomic_exchange_n(a, value, __ATOMIC_SEQ_CST);
}

// For operations under the location's lock.
template <class T>
void raw_store_locked(T volatile* a, T value, std::uintptr_t = 0, bool = false) {
    if constexpr (sizeof(T) == 16)
        raw_store(a, value);
    else
        __atomic_store_n(a, value, __ATOMIC_RELEASE);
}

}  // namespace fencepost

#endif
