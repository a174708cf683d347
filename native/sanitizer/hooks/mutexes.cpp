// Mutexes, spin locks and condition variables: an unlock is known to later locks. A condition variable orders
// nothing but through its mutex.
#include <pthread.h>

#include "sanitizer/hooks/interpose.hpp"
#include "sanitizer/races/locks.hpp"
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
