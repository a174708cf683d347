// Locks that ThreadSanitizer does not see being taken, in mode races: those with a limit on a clock of the
// caller's choice, which std::timed_mutex and std::shared_timed_mutex use (its clang 19 knows the mutexes).
// It sees them being given back, so it has to hear of them, once they are taken. In mode atomics this is
// empty.
#pragma once

namespace fencepost::races {

#if defined(FENCEPOST_RACES)

extern "C" {
void __tsan_mutex_pre_lock(void* lock, unsigned flags);
void __real___tsan_mutex_post_lock(void* lock, unsigned flags, int recursion);
void __real___tsan_acquire(void* address);
void __real___tsan_release(void* address);
}

constexpr unsigned to_write = 1 << 4, to_read = to_write | 1 << 3;  // both as if by a trylock

// `known`: ThreadSanitizer has a function of its own for the call, and knows already.
inline int note_lock(bool known, void* lock, unsigned flags, int result) {
    if (known || result != 0) return result;
    __tsan_mutex_pre_lock(lock, flags);
    __real___tsan_mutex_post_lock(lock, flags, 0);
    return result;
}

inline int note_semaphore(bool known, void* semaphore, int result) {
    if (!known && result == 0) __real___tsan_acquire(semaphore);
    return result;
}

#else

constexpr unsigned to_write = 0, to_read = 0;
inline int note_lock(bool, void*, unsigned, int result) {
    return result;
}
inline int note_semaphore(bool, void*, int result) {
    return result;
}

#endif

}  // namespace fencepost::races

#define KNOWN_TO_THREAD_SANITIZER(function) (INTERCEPTOR(function) != nullptr)
