// The rest of ThreadSanitizer's interface, in mode atomics. Calls for plain accesses do nothing: gcc cannot
// leave them out. Those for volatile ones can count as atomic.
#include <cstddef>

#include "sanitizer/hooks/runtime.hpp"
#include "sanitizer/hooks/volatile_accesses.hpp"

#define FENCEPOST_API extern "C" [[gnu::visibility("default"), gnu::noinline]]

FENCEPOST_API void __tsan_init() {
    fencepost::start_runtime();
}

// Plain accesses.
#define NOTHING(name, ...) \
    FENCEPOST_API void __tsan_##name(__VA_ARGS__) {}
#define VOLATILE(name, size, kind)                                          \
    FENCEPOST_API void __tsan_##name##size(void* a) {                       \
        fencepost::is_volatile_##kind(a, size, __builtin_frame_address(0)); \
    }
#define NOTHING_OF_SIZE(size)                     \
    NOTHING(read##size, void*)                    \
    NOTHING(write##size, void*)                   \
    NOTHING(read_write##size, void*)              \
    NOTHING(unaligned_read##size, void*)          \
    NOTHING(unaligned_write##size, void*)         \
    NOTHING(unaligned_read_write##size, void*)    \
    VOLATILE(volatile_read, size, read)           \
    VOLATILE(volatile_write, size, write)         \
    VOLATILE(unaligned_volatile_read, size, read) \
    VOLATILE(unaligned_volatile_write, size, write)
NOTHING_OF_SIZE(1)
NOTHING_OF_SIZE(2)
NOTHING_OF_SIZE(4)
NOTHING_OF_SIZE(8)
NOTHING_OF_SIZE(16)
NOTHING(read_range, void*, unsigned long)
NOTHING(write_range, void*, unsigned long)
NOTHING(vptr_update, void**, void*)
NOTHING(vptr_read, void**)
NOTHING(func_entry, void*)
NOTHING(func_exit)
NOTHING(ignore_thread_begin)
NOTHING(ignore_thread_end)

FENCEPOST_API void* __tsan_memcpy(void* to, void const* from, std::size_t bytes) {
    return __builtin_memcpy(to, from, bytes);
}
FENCEPOST_API void* __tsan_memmove(void* to, void const* from, std::size_t bytes) {
    return __builtin_memmove(to, from, bytes);
}
FENCEPOST_API void* __tsan_memset(void* to, int value, std::size_t bytes) {
    return __builtin_memset(to, value, bytes);
}
