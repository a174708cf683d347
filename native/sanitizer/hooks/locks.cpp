// Mutexes, spin locks, condition variables and read-write locks: an unlock is known to later locks. A
// condition variable orders nothing but through its mutex.
#include "sanitizer/races/locks.hpp"

#include <pthread.h>

#include "sanitizer/hooks/interpose.hpp"
#include "sanitizer/schedule/sync.hpp"

using namespace fencepost;
using scheduler::TimeLimit;

FENCEPOST_INTERPOSE int pthread_mutex_lock(pthread_mutex_t* mutex) {
    return acquiring(
        mutex, [&] { return scheduler::mutex_lock(mutex); }, [&] { return REAL(pthread_mutex_lock)(mutex); });
}

FENCEPOST_INTERPOSE int pthread_mutex_trylock(pthread_mutex_t* mutex) {
    return acquiring(
        mutex, [&] { return scheduler::mutex_trylock(mutex); },
        [&] { return REAL(pthread_mutex_trylock)(mutex); });
}

FENCEPOST_INTERPOSE int pthread_mutex_timedlock(pthread_mutex_t* mutex, timespec const* until) {
    return acquiring(
        mutex, [&] { return scheduler::mutex_lock(mutex, TimeLimit{until, CLOCK_REALTIME}); },
        [&] { return REAL(pthread_mutex_timedlock)(mutex, until); });
}

FENCEPOST_INTERPOSE int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                                timespec const* until) {
    return acquiring(
        mutex, [&] { return scheduler::mutex_lock(mutex, TimeLimit{until, clock}); },
        [&] {
            return races::note_lock(KNOWN_TO_THREAD_SANITIZER(pthread_mutex_clocklock), mutex,
                                    races::to_write, REAL(pthread_mutex_clocklock)(mutex, clock, until));
        });
}

FENCEPOST_INTERPOSE int pthread_mutex_unlock(pthread_mutex_t* mutex) {
    return releasing(
        mutex, [&] { return scheduler::mutex_unlock(mutex); },
        [&] { return REAL(pthread_mutex_unlock)(mutex); });
}

FENCEPOST_INTERPOSE int pthread_mutex_destroy(pthread_mutex_t* mutex) {
    forget_memory(mutex, sizeof *mutex);
    return REAL(pthread_mutex_destroy)(mutex);
}

FENCEPOST_INTERPOSE int pthread_spin_lock(pthread_spinlock_t* lock) {
    return acquiring(
        lock, [&] { return scheduler::spin_lock(lock); }, [&] { return REAL(pthread_spin_lock)(lock); });
}

FENCEPOST_INTERPOSE int pthread_spin_trylock(pthread_spinlock_t* lock) {
    return acquiring(
        lock, [&] { return scheduler::spin_trylock(lock); },
        [&] { return REAL(pthread_spin_trylock)(lock); });
}

FENCEPOST_INTERPOSE int pthread_spin_unlock(pthread_spinlock_t* lock) {
    return releasing(
        lock, [&] { return scheduler::spin_unlock(lock); }, [&] { return REAL(pthread_spin_unlock)(lock); });
}

FENCEPOST_INTERPOSE int pthread_spin_destroy(pthread_spinlock_t* lock) {
    forget_memory(lock, sizeof *lock);
    return REAL(pthread_spin_destroy)(lock);
}

// Condition variables have two versions in the C library for x86-64; programs are linked with the newer one.
#define REAL_COND(function) REAL_VERSION(function, "GLIBC_2.3.2")

namespace {

// Every wait, however it ends, unlocks the mutex and locks it again.
template <class Scheduled, class Real>
int waiting(pthread_mutex_t* mutex, Scheduled scheduled, Real real) {
    release_object(mutex);
    int const result = scheduler::active() ? scheduled() : real();
    acquire_object(mutex);
    return result;
}

}  // namespace

FENCEPOST_INTERPOSE int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
    return waiting(
        mutex, [&] { return scheduler::cond_wait(condition, mutex); },
        [&] { return REAL_COND(pthread_cond_wait)(condition, mutex); });
}

FENCEPOST_INTERPOSE int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                               timespec const* until) {
    return waiting(
        mutex,
        [&] {
            return scheduler::cond_wait(condition, mutex, TimeLimit{until, scheduler::cond_clock(condition)});
        },
        [&] { return REAL_COND(pthread_cond_timedwait)(condition, mutex, until); });
}

FENCEPOST_INTERPOSE int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                               clockid_t clock, timespec const* until) {
    return waiting(
        mutex, [&] { return scheduler::cond_wait(condition, mutex, TimeLimit{until, clock}); },
        [&] { return REAL(pthread_cond_clockwait)(condition, mutex, clock, until); });
}

FENCEPOST_INTERPOSE int pthread_cond_signal(pthread_cond_t* condition) {
    if (scheduler::active()) return scheduler::cond_signal(condition);
    int const result = REAL_COND(pthread_cond_signal)(condition);
    wake_scheduled(condition);
    return result;
}

FENCEPOST_INTERPOSE int pthread_cond_broadcast(pthread_cond_t* condition) {
    if (scheduler::active()) return scheduler::cond_broadcast(condition);
    int const result = REAL_COND(pthread_cond_broadcast)(condition);
    wake_scheduled(condition);
    return result;
}

// Read-write locks. A lock for writing knows all unlocks before it, one for reading only those by writers:
// readers do not synchronise with each other. So there are two channels.
namespace {

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

// The thread that unlocks holds the lock, so if there is a writer, it is this one.
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
