// System calls without the C library: they leave errno alone, need no thread-local storage, and do not meet
// the library's own definitions of `syscall` and its like. The result is the kernel's: negative errors.
#pragma once

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace fencepost::kernel {

template <typename T>
long argument(T value) {
    if constexpr (std::is_null_pointer_v<T>)
        return 0;
    else if constexpr (std::is_pointer_v<T>)
        return reinterpret_cast<long>(value);
    else
        return static_cast<long>(value);
}

#if defined(__x86_64__)
inline long call6(long number, long a, long b, long c, long d, long e, long f) {
    long result;
    register long r10 asm("r10") = d;
    register long r8 asm("r8") = e;
    register long r9 asm("r9") = f;
    asm volatile("syscall"
                 : "=a"(result)
                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                 : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
inline long call6(long number, long a, long b, long c, long d, long e, long f) {
    register long x8 asm("x8") = number;
    register long x0 asm("x0") = a;
    register long x1 asm("x1") = b;
    register long x2 asm("x2") = c;
    register long x3 asm("x3") = d;
    register long x4 asm("x4") = e;
    register long x5 asm("x5") = f;
    asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}
#else
#error "fencepost's sanitizer knows the system calls of x86-64 and aarch64 only"
#endif

template <typename... Arguments>
long call(long number, Arguments... arguments) {
    static_assert(sizeof...(arguments) <= 6);
    long values[6] = {argument(arguments)...};
    return call6(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}

// Waits while *word == value; may return early.
inline long futex_wait(std::uint32_t* word, std::uint32_t value, timespec const* timeout = nullptr) {
    return call(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, timeout, nullptr, 0);
}

inline void futex_wake(std::uint32_t* word) {
    call(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

inline bool failed(long result) {
    return result < 0 && result > -4096;
}

// Maps memory in a part of the address space that nobody else uses, if it can: what the library needs does
// not move the program's own stacks and heaps. Null if it cannot.
inline std::uintptr_t next_place = 0x2000'0000'0000;
inline std::uintptr_t mapped_until = 0;  // private pages are there already, up to here
inline void* map(std::size_t bytes, int protection, int flags, long file = -1, std::uint64_t offset = 0) {
    constexpr std::size_t unit = 1 << 16;
    std::uintptr_t const place =
        __atomic_fetch_add(&next_place, (bytes + unit - 1) / unit * unit, __ATOMIC_RELAXED);
    if (file < 0 && place + bytes <= mapped_until) return reinterpret_cast<void*>(place);
    long const result = call(SYS_mmap, place, bytes, protection, flags, file, offset);
    return failed(result) ? nullptr : reinterpret_cast<void*>(result);
}

// Maps many private pages at once, which `map` then hands out.
inline void map_ahead(std::size_t bytes) {
    int const flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    long const result = call(SYS_mmap, next_place, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (!failed(result)) mapped_until = next_place + bytes;
}

// Zeroed pages that cost nothing before they are touched, or are all there at once; null if there are none.
inline void* pages(std::size_t bytes, bool at_once = false) {
    int const flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at_once ? MAP_POPULATE : 0);
    return map(bytes, PROT_READ | PROT_WRITE, flags);
}

}  // namespace fencepost::kernel
