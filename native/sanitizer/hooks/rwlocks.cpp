// Read-write locks. A lock for writing knows all unlocks before it, one for reading only those by writers:
// readers do not synchronise with each other. So there are two channels.
#include <pthread.h>

#include "sanitizer/hooks/interpose.hpp"
#include "sanitizer/races/locks.hpp"
#include "sanitizer/schedule/sync.hpp"

using namespace fencepost;
using scheduler::TimeLimit;

namespace {

constexpr std::uintptr_t by_writers = 0, by_readers = 1;

template <class Scheduled, class Real>
int acquiring_to_write(pthread_rwlock_t* lock, Scheduled scheduled, Real real) {
    int const result = acquiring(lock, scheduled, real);
    if (result == 0) acquire_object(lock, by_readers);
    return result;
}

}  // namespace

FENCEPOST_INTERPOSE int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
    return acquiring(
        lock, [&] { return scheduler::rwlock_rdlock(lock); },
        [&] { return REAL(pthread_rwlock_rdlock)(lock); });
}

FENCEPOST_INTERPOSE int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) {
    return acquiring(
        lock, [&] { return scheduler::rwlock_tryrdlock(lock); },
        [&] { return REAL(pthread_rwlock_tryrdlock)(lock); });
}

FENCEPOST_INTERPOSE int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, timespec const* until) {
    return acquiring(
        lock, [&] { return scheduler::rwlock_rdlock(lock, TimeLimit{until, CLOCK_REALTIME}); },
        [&] { return REAL(pthread_rwlock_timedrdlock)(lock, until); });
}

FENCEPOST_INTERPOSE int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                                   timespec const* until) {
    return acquiring(
        lock, [&] { return scheduler::rwlock_rdlock(lock, TimeLimit{until, clock}); },
        [&] {
            return races::note_lock(KNOWN_TO_THREAD_SANITIZER(pthread_rwlock_clockrdlock), lock,
                                    races::to_read, REAL(pthread_rwlock_clockrdlock)(lock, clock, until));
        });
}

FENCEPOST_INTERPOSE int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
    return acquiring_to_write(
        lock, [&] { return scheduler::rwlock_wrlock(lock); },
        [&] { return REAL(pthread_rwlock_wrlock)(lock); });
}

FENCEPOST_INTERPOSE int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) {
    return acquiring_to_write(
        lock, [&] { return scheduler::rwlock_trywrlock(lock); },
        [&] { return REAL(pthread_rwlock_trywrlock)(lock); });
}

FENCEPOST_INTERPOSE int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, timespec const* until) {
    return acquiring_to_write(
        lock, [&] { return scheduler::rwlock_wrlock(lock, TimeLimit{until, CLOCK_REALTIME}); },
        [&] { return REAL(pthread_rwlock_timedwrlock)(lock, until); });
}

FENCEPOST_INTERPOSE int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                                   timespec const* until) {
    return acquiring_to_write(
        lock, [&] { return scheduler::rwlock_wrlock(lock, TimeLimit{until, clock}); },
        [&] {
            return races::note_lock(KNOWN_TO_THREAD_SANITIZER(pthread_rwlock_clockwrlock), lock,
                                    races::to_write, REAL(pthread_rwlock_clockwrlock)(lock, clock, until));
        });
}

// Whoever unlocks holds it, so if there is a writer it is this thread.
FENCEPOST_INTERPOSE int pthread_rwlock_unlock(pthread_rwlock_t* lock) {
    release_object(lock, lock->__data.__cur_writer != 0 ? by_writers : by_readers);
    if (scheduler::active()) return scheduler::rwlock_unlock(lock);
    int const result = REAL(pthread_rwlock_unlock)(lock);
    wake_scheduled(lock);
    return result;
}

FENCEPOST_INTERPOSE int pthread_rwlock_destroy(pthread_rwlock_t* lock) {
    forget_memory(lock, sizeof *lock);
    return REAL(pthread_rwlock_destroy)(lock);
}
