#include "sanitizer/schedule/sync.hpp"

#include <errno.h>
#include <linux/futex.h>

#include <climits>

#include "sanitizer/schedule/execution.hpp"
#include "sanitizer/schedule/scheduler.hpp"
#include "sanitizer/schedule/state.hpp"
#include "sanitizer/schedule/time.hpp"
#include "sanitizer/schedule/waits.hpp"
#include "sanitizer/system/real.hpp"
#include "sanitizer/system/syscalls.hpp"

namespace fencepost::scheduler {

using detail::self;

namespace {

bool valid(TimeLimit limit) {
    return limit.until == nullptr || (limit.until->tv_nsec >= 0 && limit.until->tv_nsec < 1'000'000'000);
}

std::int64_t deadline(TimeLimit limit) {
    return limit.until == nullptr ? never : schedule_time(*limit.until, limit.clock);
}

// Tries until it is not refused, and waits in between.
template <typename Try>
int lock_by(Try attempt, Wait wait, TimeLimit limit) {
    for (;;) {
        int const result = attempt();
        if (result != EBUSY) return result;
        if (!valid(limit)) return EINVAL;
        wait.deadline = deadline(limit);
        if (!(wait.cancellable ? detail::block_or_be_cancelled(wait) : block(wait))) return ETIMEDOUT;
    }
}

// The states of objects, for explorations: bits for what can be done.
constexpr std::uint64_t free_to_read = 1, free_to_write = 2;

std::uint64_t state_of_mutex(void const*);
std::uint64_t state_of_rwlock(void const*);
std::uint64_t state_of_spinlock(void const*);
std::uint64_t state_of_semaphore(void const*);
using State = std::uint64_t (*)(void const*);

// Points before calls. A call that takes something waits until it is there.
void point_at(void const volatile* object, State state = nullptr, void const volatile* second = nullptr) {
    Operation operation;
    operation.act = Act::use;
    operation.object = const_cast<void const*>(object);
    operation.second = const_cast<void const*>(second);
    operation.state = state;
    point(operation);
}

Operation taking(Wait const& wait, State state, std::uint64_t bit) {
    Operation operation;
    operation.act = Act::use;
    operation.object = wait.object;
    operation.state = state;
    operation.until = wait.deadline != never ? Until::always
                      : state != nullptr     ? Until::free
                                             : Until::unknown;
    operation.awaited = bit;
    operation.wait = &wait;
    return operation;
}

// A lock with a time limit, where time runs out by choice: it is taken when it is free, or it is given up at
// a moment when it is not.
bool chooses(TimeLimit limit) {
    return detail::as_explored && limit.until != nullptr && valid(limit);
}

template <typename Try>
int lock_by_choice(Try attempt, Wait wait, State state, std::uint64_t bit, TimeLimit limit) {
    bool const runs_out = choose(2) == 1;
    wait.deadline = never;
    wait.time_limit = true;
    Operation operation = taking(wait, state, bit);
    if (runs_out) operation.until = Until::busy;
    point(operation);
    int const result = attempt();
    if (result != EBUSY) return result;
    detail::pass_time_until(deadline(limit));
    return ETIMEDOUT;
}

int unlocked(int result, void const* object) {
    wake(object);
    return result;
}

// The lock word holds 0, the owner's number, or states above it: waiters, a dead owner.
bool mutex_is_free(void* mutex) {
    return (static_cast<pthread_mutex_t*>(mutex)->__data.__lock & FUTEX_TID_MASK) == 0;
}

std::uint64_t state_of_mutex(void const* mutex) {
    return mutex_is_free(const_cast<void*>(mutex)) ? free_to_write : 0;
}

Wait for_mutex(pthread_mutex_t* mutex, TimeLimit limit = {}) {
    Wait wait{mutex_is_free, mutex, mutex, "mutex", &mutex->__data.__owner};
    if (limit.until != nullptr) wait.deadline = 0;
    return wait;
}

// A mutex that its owner may ask for again does not make it wait.
bool is_own(pthread_mutex_t const* mutex) {
    int const kind = mutex->__data.__kind & 3;
    return mutex->__data.__owner == self->fiber.tid &&
           (kind == PTHREAD_MUTEX_RECURSIVE || kind == PTHREAD_MUTEX_ERRORCHECK);
}

int try_mutex(pthread_mutex_t* mutex) {
    auto const& data = mutex->__data;
    int const result = REAL(pthread_mutex_trylock)(mutex);
    bool const mine = result == EBUSY && data.__owner == self->fiber.tid;
    return mine && (data.__kind & 3) == PTHREAD_MUTEX_ERRORCHECK ? EDEADLK : result;
}

int lock_without_point(pthread_mutex_t* mutex, TimeLimit limit) {
    return lock_by([&] { return try_mutex(mutex); }, for_mutex(mutex), limit);
}

bool rwlock_is_readable(void* lock) {
    auto* const rwlock = static_cast<pthread_rwlock_t*>(lock);
    return REAL(pthread_rwlock_tryrdlock)(rwlock) == 0 && REAL(pthread_rwlock_unlock)(rwlock) == 0;
}

bool rwlock_is_free(void* lock) {
    auto* const rwlock = static_cast<pthread_rwlock_t*>(lock);
    return REAL(pthread_rwlock_trywrlock)(rwlock) == 0 && REAL(pthread_rwlock_unlock)(rwlock) == 0;
}

std::uint64_t state_of_rwlock(void const* lock) {
    void* const rwlock = const_cast<void*>(lock);
    return (rwlock_is_readable(rwlock) ? free_to_read : 0) | (rwlock_is_free(rwlock) ? free_to_write : 0);
}

Wait for_rwlock(pthread_rwlock_t* lock, bool (*ready)(void*), TimeLimit limit = {}) {
    Wait wait{ready, lock, lock, "read-write lock", &lock->__data.__cur_writer};
    if (limit.until != nullptr) wait.deadline = 0;
    return wait;
}

bool written_by_self(pthread_rwlock_t const* lock) {
    return lock->__data.__cur_writer == self->fiber.tid;
}

bool spinlock_is_free(void* lock) {
    auto* const spinlock = static_cast<pthread_spinlock_t*>(lock);
    return REAL(pthread_spin_trylock)(spinlock) == 0 && REAL(pthread_spin_unlock)(spinlock) == 0;
}

std::uint64_t state_of_spinlock(void const* lock) {
    return spinlock_is_free(const_cast<void*>(lock)) ? free_to_write : 0;
}

bool semaphore_is_positive(void* semaphore) {
    int value = 0;
    ::sem_getvalue(static_cast<sem_t*>(semaphore), &value);
    return value > 0;
}

std::uint64_t state_of_semaphore(void const* semaphore) {
    return semaphore_is_positive(const_cast<void*>(semaphore)) ? free_to_write : 0;
}

bool nobody_initialises(void* control) {
    constexpr int in_progress = 1;
    return (__atomic_load_n(static_cast<pthread_once_t*>(control), __ATOMIC_RELAXED) & 3) != in_progress;
}

std::uint64_t state_of_once(void const* control) {
    return nobody_initialises(const_cast<void*>(control)) ? free_to_write : 0;
}

// What pthread_once is to call. That it has been done is an event of its own; where it throws there is none.
struct Initialisation {
    pthread_once_t* control;
    void (*initialise)();
};
constinit thread_local Initialisation initialisation [[gnu::tls_model("initial-exec")]] = {};

void initialise_and_tell() {
    Initialisation const own = initialisation;
    self->initialises = own.control;
    own.initialise();
    self->initialises = nullptr;
    point_at(own.control, state_of_once);
}

bool has_thrown(detail::Thread const& thread, pthread_once_t* control) {
    return thread.initialises == control && nobody_initialises(control);
}

// The guard of a static variable of C++: whether it has been initialised, and whether somebody does that.
bool nobody_guards(void* busy) {
    return __atomic_load_n(static_cast<unsigned char*>(busy), __ATOMIC_RELAXED) == 0;
}

std::uint64_t state_of_guard(void const* busy) {
    return nobody_guards(const_cast<void*>(busy)) ? free_to_write : 0;
}

// What a pthread_barrier_t holds under a schedule.
struct Barrier {
    std::uint32_t count;
    std::uint32_t arrived;
};
static_assert(sizeof(Barrier) <= sizeof(pthread_barrier_t) && alignof(Barrier) <= alignof(pthread_barrier_t));

Barrier& in(pthread_barrier_t* barrier) {
    return *reinterpret_cast<Barrier*>(barrier);
}

int fails(int error) {
    errno = error;
    return -1;
}

}  // namespace

int mutex_lock(pthread_mutex_t* mutex, TimeLimit limit) {
    Wait const wait = for_mutex(mutex, limit);
    if (!is_own(mutex) && chooses(limit))
        return lock_by_choice([&] { return try_mutex(mutex); }, wait, state_of_mutex, free_to_write, limit);
    if (is_own(mutex))
        point_at(mutex, state_of_mutex);
    else
        point(taking(wait, state_of_mutex, free_to_write));
    return lock_without_point(mutex, limit);
}

int mutex_trylock(pthread_mutex_t* mutex) {
    point_at(mutex, state_of_mutex);
    return REAL(pthread_mutex_trylock)(mutex);
}

int mutex_unlock(pthread_mutex_t* mutex) {
    point_at(mutex, state_of_mutex);
    return unlocked(REAL(pthread_mutex_unlock)(mutex), mutex);
}

int rwlock_rdlock(pthread_rwlock_t* lock, TimeLimit limit) {
    Wait const wait = for_rwlock(lock, rwlock_is_readable, limit);
    auto const attempt = [&] { return REAL(pthread_rwlock_tryrdlock)(lock); };
    if (!written_by_self(lock) && chooses(limit))
        return lock_by_choice(attempt, wait, state_of_rwlock, free_to_read, limit);
    if (written_by_self(lock))
        point_at(lock, state_of_rwlock);
    else
        point(taking(wait, state_of_rwlock, free_to_read));
    if (written_by_self(lock)) return EDEADLK;
    return lock_by(attempt, for_rwlock(lock, rwlock_is_readable), limit);
}

int rwlock_wrlock(pthread_rwlock_t* lock, TimeLimit limit) {
    Wait const wait = for_rwlock(lock, rwlock_is_free, limit);
    auto const attempt = [&] { return REAL(pthread_rwlock_trywrlock)(lock); };
    if (!written_by_self(lock) && chooses(limit))
        return lock_by_choice(attempt, wait, state_of_rwlock, free_to_write, limit);
    if (written_by_self(lock))
        point_at(lock, state_of_rwlock);
    else
        point(taking(wait, state_of_rwlock, free_to_write));
    if (written_by_self(lock)) return EDEADLK;
    return lock_by(attempt, for_rwlock(lock, rwlock_is_free), limit);
}

int rwlock_tryrdlock(pthread_rwlock_t* lock) {
    point_at(lock, state_of_rwlock);
    return REAL(pthread_rwlock_tryrdlock)(lock);
}

int rwlock_trywrlock(pthread_rwlock_t* lock) {
    point_at(lock, state_of_rwlock);
    return REAL(pthread_rwlock_trywrlock)(lock);
}

int rwlock_unlock(pthread_rwlock_t* lock) {
    point_at(lock, state_of_rwlock);
    return unlocked(REAL(pthread_rwlock_unlock)(lock), lock);
}

int spin_lock(pthread_spinlock_t* lock) {
    auto* const object = const_cast<int*>(lock);
    Wait const wait{spinlock_is_free, object, object, "spin lock"};
    point(taking(wait, state_of_spinlock, free_to_write));
    auto const attempt = [&] { return REAL(pthread_spin_trylock)(lock); };
    return lock_by(attempt, wait, {});
}

int spin_trylock(pthread_spinlock_t* lock) {
    point_at(lock, state_of_spinlock);
    return REAL(pthread_spin_trylock)(lock);
}

int spin_unlock(pthread_spinlock_t* lock) {
    point_at(lock, state_of_spinlock);
    return unlocked(REAL(pthread_spin_unlock)(lock), const_cast<int*>(lock));
}

clockid_t cond_clock(pthread_cond_t const* condition) {
    constexpr unsigned monotonic = 2;
    return (condition->__data.__wrefs & monotonic) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

int cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex, TimeLimit limit) {
    if (!valid(limit)) return EINVAL;
    point_at(mutex, state_of_mutex, condition);
    self->cancelled = false;
    pthread_testcancel();
    if (int const error = REAL(pthread_mutex_unlock)(mutex)) return error;
    wake(mutex);
    Wait wait{nullptr, nullptr, condition, "condition variable"};
    wait.deadline = deadline(limit);
    wait.may_end_early = wait.cancellable = true;
    Wait const relock = for_mutex(mutex);
    // Time that runs out later is the same: nobody can tell.
    if (detail::chosen_to_run_out(wait)) {
        point(taking(relock, state_of_mutex, free_to_write));
        int const failed = lock_without_point(mutex, {});
        return failed != 0 ? failed : ETIMEDOUT;
    }
    if (detail::exploring) execution::announce(*self, taking(relock, state_of_mutex, free_to_write));
    detail::block_until_chosen(wait);
    detail::End const end = self->end;
    int const error = lock_without_point(mutex, {});
    if (end == detail::End::cancelled) pthread_testcancel();  // the cleanup handlers find the mutex locked
    return error != 0 ? error : end == detail::End::deadline ? ETIMEDOUT : 0;
}

// Threads beside the schedule wait in the C library.
int cond_signal(pthread_cond_t* condition) {
    point_at(condition);
    if (detail::choose_waiting(condition, 1) != 0) return 0;
    return REAL_VERSION(pthread_cond_signal, "GLIBC_2.3.2")(condition);
}

int cond_broadcast(pthread_cond_t* condition) {
    point_at(condition);
    detail::choose_waiting(condition, UINT32_MAX);
    return REAL_VERSION(pthread_cond_broadcast, "GLIBC_2.3.2")(condition);
}

int sem_wait(sem_t* semaphore, TimeLimit limit) {
    Wait wait{semaphore_is_positive, semaphore, semaphore, "semaphore"};
    wait.cancellable = true;
    if (limit.until != nullptr) wait.deadline = 0;
    auto const attempt = [&] {
        if (REAL(sem_trywait)(semaphore) == 0) return 0;
        return errno == EAGAIN ? EBUSY : errno;
    };
    bool const by_choice = chooses(limit);
    if (!by_choice) point(taking(wait, state_of_semaphore, free_to_write));
    int const error = by_choice ? lock_by_choice(attempt, wait, state_of_semaphore, free_to_write, limit)
                                : lock_by(attempt, wait, limit);
    return error == 0 ? 0 : fails(error);
}

int sem_trywait(sem_t* semaphore) {
    point_at(semaphore, state_of_semaphore);
    return REAL(sem_trywait)(semaphore);
}

int sem_post(sem_t* semaphore) {
    point_at(semaphore, state_of_semaphore);
    return unlocked(REAL(sem_post)(semaphore), semaphore);
}

int barrier_init(pthread_barrier_t* barrier, pthread_barrierattr_t const*, unsigned count) {
    if (count == 0 || count > INT_MAX) return EINVAL;
    in(barrier) = {count, 0};
    return 0;
}

int barrier_wait(pthread_barrier_t* barrier) {
    point_at(barrier);
    Barrier& state = in(barrier);
    if (++state.arrived < state.count) {
        detail::block_until_chosen({nullptr, nullptr, barrier, "barrier"});
        return 0;
    }
    state.arrived = 0;
    detail::choose_waiting(barrier, UINT32_MAX);
    return PTHREAD_BARRIER_SERIAL_THREAD;
}

int barrier_destroy(pthread_barrier_t*) {
    return 0;
}

// The C library runs `initialise`, so that an exception from it leaves things as they should be.
int once(pthread_once_t* control, void (*initialise)()) {
    Wait const wait{nobody_initialises, control, control, "once"};
    point(taking(wait, state_of_once, free_to_write));
    block(wait);
    for (detail::ThreadList const* list : {&detail::runnable, &detail::blocked}) {
        for (std::uint32_t i = 0; i < list->count; ++i)
            if (has_thrown(*list->items[i], control)) execution::note_untried(execution::initialisations);
    }
    initialisation = {control, initialise};
    return unlocked(REAL(pthread_once)(control, initialise_and_tell), control);
}

// The first byte of a guard, which the program reads, says that all is done; the second that somebody is at
// it.
void guard_acquire(void* guard) {
    void* const busy = static_cast<unsigned char*>(guard) + 1;
    Wait const wait{nobody_guards, busy, busy, "initialisation"};
    point(taking(wait, state_of_guard, free_to_write));
    block(wait);
}

void guard_release(void* guard) {
    point_at(guard, nullptr, static_cast<unsigned char*>(guard) + 1);
}

void guard_released(void* guard) {
    wake(static_cast<unsigned char*>(guard) + 1);
}

}  // namespace fencepost::scheduler
