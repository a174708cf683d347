// Semaphores, barriers and once. A semaphore's wait knows the posts before it. A thread that
// leaves a barrier knows what all knew when they arrived. A thread that returns from once knows what the
// initialisation knew.
#include <pthread.h>
#include <semaphore.h>

#include "sanitizer/core/locations.hpp"
#include "sanitizer/core/robustness.hpp"
#include "sanitizer/core/threads.hpp"
#include "sanitizer/hooks/interpose.hpp"
#include "sanitizer/hooks/weak_operations.hpp"
#include "sanitizer/races/feed.hpp"
#include "sanitizer/races/locks.hpp"
#include "sanitizer/schedule/sync.hpp"

using namespace fencepost;
using scheduler::TimeLimit;

FENCEPOST_INTERPOSE int sem_wait(sem_t* semaphore) {
    return acquiring(
        semaphore, [&] { return scheduler::sem_wait(semaphore); }, [&] { return REAL(sem_wait)(semaphore); });
}

FENCEPOST_INTERPOSE int sem_trywait(sem_t* semaphore) noexcept {
    return acquiring(
        semaphore, [&] { return scheduler::sem_trywait(semaphore); },
        [&] { return REAL(sem_trywait)(semaphore); });
}

FENCEPOST_INTERPOSE int sem_timedwait(sem_t* semaphore, timespec const* until) {
    return acquiring(
        semaphore, [&] { return scheduler::sem_wait(semaphore, TimeLimit{until, CLOCK_REALTIME}); },
        [&] { return REAL(sem_timedwait)(semaphore, until); });
}

FENCEPOST_INTERPOSE int sem_clockwait(sem_t* semaphore, clockid_t clock, timespec const* until) {
    return acquiring(
        semaphore, [&] { return scheduler::sem_wait(semaphore, TimeLimit{until, clock}); },
        [&] {
            return races::note_semaphore(KNOWN_TO_THREAD_SANITIZER(sem_clockwait), semaphore,
                                         REAL(sem_clockwait)(semaphore, clock, until));
        });
}

FENCEPOST_INTERPOSE int sem_post(sem_t* semaphore) noexcept {
    return releasing(
        semaphore, [&] { return scheduler::sem_post(semaphore); }, [&] { return REAL(sem_post)(semaphore); });
}

FENCEPOST_INTERPOSE int sem_destroy(sem_t* semaphore) noexcept {
    forget_memory(semaphore, sizeof *semaphore);
    return REAL(sem_destroy)(semaphore);
}

// Barriers. Threads may come again before the others have left, so rounds take turns between two channels. A
// third one begins only after all have left the first: its channel starts empty again.
namespace {

constexpr std::uintptr_t counting = 0, rounds = 1;  // channels

std::uintptr_t cell_address(pthread_barrier_t const* barrier, std::uintptr_t channel) {
    return reinterpret_cast<std::uintptr_t>(barrier) + channel;
}

// The channel of the round that this thread takes part in.
std::uintptr_t come_to(pthread_barrier_t const* barrier) {
    Hook hook;
    if (!hook) return rounds;
    Thread& t = hook.thread();
    std::uint32_t place = 0, count = 0;
    {
        LockedCell cell(t, cell_address(barrier, counting), CellKind::synchronisation);
        if (!cell || cell->object->members == 0) return rounds;
        count = cell->object->members;
        place = cell->object->arrivals;
        cell->object->arrivals = (place + 1) % (2 * count);
    }
    std::uintptr_t const channel = rounds + place / count;
    LockedCell cell(t, cell_address(barrier, channel), CellKind::synchronisation);
    if (!cell) return channel;
    if (place % count == 0) {
        cell->object->forget_clocks();
        races::forget_message(cell->race_message);
    }
    races::release_object(t, cell->race_message);
    release_to(t, *cell);
    if (is_weak()) weak::release_object(t, *cell);
    return channel;
}

}  // namespace

FENCEPOST_INTERPOSE int pthread_barrier_init(pthread_barrier_t* barrier,
                                             pthread_barrierattr_t const* attributes,
                                             unsigned count) noexcept {
    int const error = scheduler::active() ? scheduler::barrier_init(barrier, attributes, count)
                                          : REAL(pthread_barrier_init)(barrier, attributes, count);
    Hook hook;
    if (error != 0 || !hook) return error;
    forget_range(cell_address(barrier, 0), sizeof *barrier);
    LockedCell cell(hook.thread(), cell_address(barrier, counting), CellKind::synchronisation);
    if (cell) cell->object->members = count;
    return error;
}

FENCEPOST_INTERPOSE int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
    std::uintptr_t const channel = come_to(barrier);
    int const result =
        scheduler::active() ? scheduler::barrier_wait(barrier) : REAL(pthread_barrier_wait)(barrier);
    acquire_object(barrier, channel);
    return result;
}

FENCEPOST_INTERPOSE int pthread_barrier_destroy(pthread_barrier_t* barrier) noexcept {
    forget_memory(barrier, sizeof *barrier);
    return scheduler::active() ? scheduler::barrier_destroy(barrier) : REAL(pthread_barrier_destroy)(barrier);
}

// Once: the C library calls us, we call the initialisation. ThreadSanitizer's function would not return any
// more after an initialisation that has thrown; the C library's has a second name, and ThreadSanitizer is
// told what it orders.
#if defined(FENCEPOST_RACES)
#if defined(__x86_64__)
#define FIRST_VERSION "GLIBC_2.2.5"
#else
#define FIRST_VERSION "GLIBC_2.17"
#endif
extern "C" int __pthread_once(pthread_once_t*, void (*)());
#define REAL_ONCE REAL_VERSION(__pthread_once, FIRST_VERSION)
#else
#define REAL_ONCE REAL(pthread_once)
#endif

namespace {

struct Once {
    pthread_once_t* control;
    void (*initialise)();
};
thread_local Once asked [[gnu::tls_model("initial-exec")]];

void initialise_and_release() {
    Once const once = asked;  // the initialisation may itself ask for another
    once.initialise();
    release_object(once.control);
#if defined(FENCEPOST_RACES)
    __real___tsan_release(once.control);
#endif
}

}  // namespace

FENCEPOST_INTERPOSE int pthread_once(pthread_once_t* control, void (*initialise)()) {
    Once const outer = asked;
    asked = {control, initialise};
    int const error = scheduler::active() ? scheduler::once(control, initialise_and_release)
                                          : REAL_ONCE(control, initialise_and_release);
    asked = outer;
    acquire_object(control);
#if defined(FENCEPOST_RACES)
    __real___tsan_acquire(control);
#endif
    return error;
}
