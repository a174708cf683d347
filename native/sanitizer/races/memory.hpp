// The bare memory in mode races. ThreadSanitizer must see the operations: it does them itself, or is told of
// them, as relaxed ones. What they synchronise it learns separately (races/feed.hpp), except for writes that
// release in place. It would order the memory by the order it is given, but here the lock of the
// location orders it.
//
// The same functions as in raw_memory.hpp, which includes this one. `pc` is what its reports are to name;
// 0 if it is not known.
#pragma once

#include <cstdint>

#include "sanitizer/races/tsan.hpp"
#include "sanitizer/system/processor.hpp"

// ThreadSanitizer's own functions, as the linker names them where all other calls lead to ours (--wrap).
#define DECLARE_RMW(bits, T, name)                                         \
    extern "C" T __real___tsan_atomic##bits##_##name(T volatile*, T, int); \
    inline T tsan_##name(T volatile* a, T operand, int order) {            \
        return __real___tsan_atomic##bits##_##name(a, operand, order);     \
    }
#define DECLARE(bits, T)                                                                         \
    extern "C" T __real___tsan_atomic##bits##_load(T const volatile*, int);                      \
    extern "C" void __real___tsan_atomic##bits##_store(T volatile*, T, int);                     \
    extern "C" T __real___tsan_atomic##bits##_compare_exchange_val(T volatile*, T, T, int, int); \
    inline T tsan_load(T const volatile* a, int order) {                                         \
        return __real___tsan_atomic##bits##_load(a, order);                                      \
    }                                                                                            \
    inline void tsan_store(T volatile* a, T value, int order) {                                  \
        __real___tsan_atomic##bits##_store(a, value, order);                                     \
    }                                                                                            \
    inline T tsan_compare_exchange(T volatile* a, T expected, T desired, int order) {            \
        return __real___tsan_atomic##bits##_compare_exchange_val(a, expected, desired, order,    \
                                                                 __ATOMIC_RELAXED);              \
    }                                                                                            \
    DECLARE_RMW(bits, T, exchange)                                                               \
    DECLARE_RMW(bits, T, fetch_add)                                                              \
    DECLARE_RMW(bits, T, fetch_sub)                                                              \
    DECLARE_RMW(bits, T, fetch_and)                                                              \
    DECLARE_RMW(bits, T, fetch_or)                                                               \
    DECLARE_RMW(bits, T, fetch_xor)                                                              \
    DECLARE_RMW(bits, T, fetch_nand)

namespace fencepost::races {

DECLARE(8, std::uint8_t)
DECLARE(16, std::uint16_t)
DECLARE(32, std::uint32_t)
DECLARE(64, std::uint64_t)
DECLARE(128, Bits128)
#undef DECLARE
#undef DECLARE_RMW

// While this lives, ThreadSanitizer's stack has the place on top.
class Called {
  public:
    explicit Called(std::uintptr_t pc) : known_(pc != 0) {
        if (known_) __tsan_func_entry(reinterpret_cast<void*>(pc));
    }
    ~Called() {
        if (known_) __tsan_func_exit();
    }
    Called(Called const&) = delete;
    Called& operator=(Called const&) = delete;

  private:
    bool known_;
};

enum class Seen : std::uintptr_t { write = 2, read = 3 };  // atomic ones, in its numbers

// Shows ThreadSanitizer a relaxed access, which the caller then does. False if ThreadSanitizer has to do it:
// now and then it has, because only then it looks for signals that it has kept back.
template <class T>
[[gnu::always_inline]] inline bool shown(Seen kind, T const volatile* a, std::uintptr_t pc) {
    static constinit thread_local std::uint8_t accesses [[gnu::tls_model("initial-exec")]] = 0;
    if (__tsan::MemoryAccess == nullptr || pc == 0 || ++accesses % 64 == 0) return false;
    __tsan::MemoryAccess(static_cast<__tsan::ThreadState*>(__tsan_get_current_fiber()), pc,
                         reinterpret_cast<std::uintptr_t>(a), sizeof(T), static_cast<std::uintptr_t>(kind));
    return true;
}

inline int given_order(bool release) {
    return release ? __ATOMIC_RELEASE : __ATOMIC_RELAXED;
}

}  // namespace fencepost::races

namespace fencepost {

template <class T>
T raw_load(T const volatile* a, std::uintptr_t pc = 0) {
    if constexpr (sizeof(T) <= 8)
        if (races::shown(races::Seen::read, a, pc)) return __atomic_load_n(a, __ATOMIC_RELAXED);
    races::Called called(pc);
    return races::tsan_load(a, __ATOMIC_RELAXED);
}

template <class T>
void raw_store(T volatile* a, T value, std::uintptr_t pc = 0, bool release = false) {
    if constexpr (sizeof(T) <= 8)
        if (!release && races::shown(races::Seen::write, a, pc))
            return __atomic_store_n(a, value, __ATOMIC_RELAXED);
    races::Called called(pc);
    races::tsan_store(a, value, races::given_order(release));
}

template <class T>
void raw_store_locked(T volatile* a, T value, std::uintptr_t pc, bool release) {
    raw_store(a, value, pc, release);
}

template <class T>
T raw_compare_exchange(T volatile* a, T expected, T desired, std::uintptr_t pc = 0, bool release = false) {
    if constexpr (sizeof(T) <= 8)
        if (!release && races::shown(races::Seen::write, a, pc))
            return __sync_val_compare_and_swap(a, expected, desired);
    races::Called called(pc);
    return races::tsan_compare_exchange(a, expected, desired, races::given_order(release));
}

#define READ_MODIFY_WRITE(name, bare)                                                               \
    template <class T, class Function>                                                              \
    T raw_##name(T volatile* a, T operand, Function, std::uintptr_t pc = 0, bool release = false) { \
        if constexpr (sizeof(T) <= 8)                                                               \
            if (!release && races::shown(races::Seen::write, a, pc))                                \
                return bare(a, operand, __ATOMIC_RELAXED);                                          \
        races::Called called(pc);                                                                   \
        return races::tsan_##name(a, operand, races::given_order(release));                         \
    }
READ_MODIFY_WRITE(exchange, __atomic_exchange_n)
READ_MODIFY_WRITE(fetch_add, __atomic_fetch_add)
READ_MODIFY_WRITE(fetch_sub, __atomic_fetch_sub)
READ_MODIFY_WRITE(fetch_and, __atomic_fetch_and)
READ_MODIFY_WRITE(fetch_or, __atomic_fetch_or)
READ_MODIFY_WRITE(fetch_xor, __atomic_fetch_xor)
READ_MODIFY_WRITE(fetch_nand, __atomic_fetch_nand)
#undef READ_MODIFY_WRITE

}  // namespace fencepost
