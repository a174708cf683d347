// Calls of the C library that the library stands in front of (the other files of this room). Definitions are
// weak: a program that brings its own keeps it. In mode races they are not, because ThreadSanitizer's are
// weak and come first.
//
// What happens before a release is known to whoever acquires the same object later, as C and as SC. The
// release comes before the real call, the acquire after it, so no thread can see the object without what it
// carries.
#pragma once

#include <errno.h>

#include <cstddef>
#include <cstdint>

#include "sanitizer/core/locations.hpp"
#include "sanitizer/schedule/scheduler.hpp"
#include "sanitizer/system/options.hpp"
#include "sanitizer/system/real.hpp"

#if defined(FENCEPOST_RACES)
#define FENCEPOST_INTERPOSE extern "C" [[gnu::visibility("default")]]
#else
#define FENCEPOST_INTERPOSE extern "C" [[gnu::weak, gnu::visibility("default")]]
#endif

namespace fencepost {

void start_interposing();
void start_process_interposing();
// In the child of a fork (threads.cpp).
void threads_of_parent_are_gone();
void start_watching_crashes();

// What synchronises through the object at this address. An object may have several channels.
void acquire_object(void const volatile* object, std::uintptr_t channel = 0);
void release_object(void const volatile* object, std::uintptr_t channel = 0);
inline constexpr std::uintptr_t by_writers = 0, by_readers = 1;  // of read-write locks

// Threads under a schedule may wait for what one beside it has done.
inline void wake_scheduled(void const volatile* object) {
    if (options.schedule.kind != scheduler::Kind::os) scheduler::wake(const_cast<void const*>(object));
}

// A call that acquires if it succeeds, with its scheduled and its real form.
template <class Scheduled, class Real>
int acquiring(void const volatile* object, Scheduled scheduled, Real real) {
    int const result = scheduler::active() ? scheduled() : real();
    if (result == 0 || result == EOWNERDEAD) acquire_object(object);
    return result;
}

template <class Scheduled, class Real>
int releasing(void const volatile* object, Scheduled scheduled, Real real) {
    release_object(object);
    if (scheduler::active()) return scheduled();
    int const result = real();
    wake_scheduled(object);
    return result;
}

}  // namespace fencepost
