// The blocking calls of pthreads and semaphores while a schedule is active: as the call of the same
// name, with its result, but waiting happens in the scheduler. Each reaches a point first. Call them only if
// scheduler::active(); in other threads the real functions are right, with a wake(object) after each call
// that releases something.
//
// State stays where the program has it: a mutex is locked by its real trylock, and so on. Barriers have no
// such call: barrier_init and barrier_wait keep their own state in the pthread_barrier_t.
#pragma once

#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include <cstdint>

namespace fencepost::scheduler {

// A limit in time as the calls have it: absolute, on a clock. Null: none.
struct TimeLimit {
    timespec const* until = nullptr;
    clockid_t clock = CLOCK_REALTIME;
};

int mutex_lock(pthread_mutex_t*, TimeLimit = {});
int mutex_trylock(pthread_mutex_t*);
int mutex_unlock(pthread_mutex_t*);

int rwlock_rdlock(pthread_rwlock_t*, TimeLimit = {});
int rwlock_wrlock(pthread_rwlock_t*, TimeLimit = {});
int rwlock_tryrdlock(pthread_rwlock_t*);
int rwlock_trywrlock(pthread_rwlock_t*);
int rwlock_unlock(pthread_rwlock_t*);

int spin_lock(pthread_spinlock_t*);
int spin_trylock(pthread_spinlock_t*);
int spin_unlock(pthread_spinlock_t*);

// The clock of a timed wait without an explicit one is the condition variable's.
clockid_t cond_clock(pthread_cond_t const*);
int cond_wait(pthread_cond_t*, pthread_mutex_t*, TimeLimit = {});
int cond_signal(pthread_cond_t*);
int cond_broadcast(pthread_cond_t*);

int sem_wait(sem_t*, TimeLimit = {});  // -1 and errno
int sem_trywait(sem_t*);
int sem_post(sem_t*);

int barrier_init(pthread_barrier_t*, pthread_barrierattr_t const*, unsigned count);
int barrier_wait(pthread_barrier_t*);
int barrier_destroy(pthread_barrier_t*);

int once(pthread_once_t*, void (*initialise)());

// Before and after the calls that initialise a static variable of C++.
void guard_acquire(void* guard);
void guard_release(void* guard);  // done, or given up
void guard_released(void* guard);

}  // namespace fencepost::scheduler
