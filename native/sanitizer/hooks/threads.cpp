// Threads begin and end: creation, joining, detaching, names.
#include "sanitizer/core/threads.hpp"

#include <pthread.h>
#include <unistd.h>

#include <cstdint>

#include "sanitizer/core/locations.hpp"
#include "sanitizer/core/stacks.hpp"
#include "sanitizer/hooks/interpose.hpp"
#include "sanitizer/hooks/race_watch.hpp"
#include "sanitizer/hooks/weak_operations.hpp"
#include "sanitizer/races/feed.hpp"
#include "sanitizer/schedule/scheduler.hpp"
#include "sanitizer/schedule/time.hpp"
#include "sanitizer/system/signal_mask.hpp"

using namespace fencepost;

namespace {

pthread_key_t end_key;

// While it is still this thread's turn.
void end_of_watch() {
    Thread& t = current_thread();
    memory_goes(reinterpret_cast<void const*>(t.stack_low), t.stack_high - t.stack_low, nullptr);
    Hook hook;
    if (hook) races::thread_ended(t);
}

// It never comes back from the end of its part in the schedule.
void end_lent(Thread& t) {
    {
        Hook hook;
        if (hook) forget_range(t.stack_low, t.stack_high - t.stack_low);
        thread_has_ended(t);
    }
    scheduler::thread_ends();
}

// Thread-local destructors may use atomics, and come in rounds. The end of a thread is in the last one.
void at_thread_end(void* rounds_left) {
    auto const left = reinterpret_cast<std::uintptr_t>(rounds_left);
    if (left > 1) {
        pthread_setspecific(end_key, reinterpret_cast<void*>(left - 1));
        return;
    }
    end_of_watch();
    if (scheduler::lends_threads()) return end_lent(current_thread());
    scheduler::thread_ends();
    Hook hook;
    Thread& t = hook.thread();
    if (!hook) return;
    forget_range(t.stack_low, t.stack_high - t.stack_low);
    thread_has_ended(t);
}

void* run_thread(void* argument) {
    auto* const t = static_cast<Thread*>(argument);
    thread_runs(t);
    t->stack_base = __builtin_frame_address(0);
    if (!t->lent) exchange_signal_mask(t->signal_mask);
    if (t->scheduled) scheduler::thread_begins(t->id);
    if (t->lent) t->tid = gettid();
    pthread_setspecific(end_key, reinterpret_cast<void*>(std::uintptr_t{PTHREAD_DESTRUCTOR_ITERATIONS}));
    t->result = PTHREAD_CANCELED;
    return t->result = t->routine(t->argument);
}

std::size_t largest_stack = 0;
bool parents_threads_are_gone = false;

void note_attributes(Thread& t, pthread_attr_t const* attributes) {
    pthread_attr_t usual;
    if (attributes == nullptr) {
        pthread_attr_init(&usual);
        attributes = &usual;
    }
    int state = PTHREAD_CREATE_JOINABLE;
    pthread_attr_getdetachstate(attributes, &state);
    pthread_attr_getstacksize(attributes, &t.stack_bytes);
    if (!parents_threads_are_gone && t.stack_bytes > largest_stack) largest_stack = t.stack_bytes;
    t.detached = state == PTHREAD_CREATE_DETACHED;
    if (attributes == &usual) pthread_attr_destroy(&usual);
}

}  // namespace

namespace fencepost {

namespace {

// ThreadSanitizer tells threads apart by their handles, and takes those of the parent for live ones in the
// child of a fork. For the C library their stacks are free, and so are their handles. It does not take them
// for a thread that wants more room.
class WithAnotherStack {
  public:
    explicit WithAnotherStack(pthread_attr_t const* wanted) : chosen_(wanted) {
#if defined(FENCEPOST_RACES)
        if (!parents_threads_are_gone || largest_stack == 0) return;
        constexpr std::size_t more = 1 << 20;
        if (wanted == nullptr)
            pthread_attr_init(&own_);
        else
            own_ = *wanted;
        is_made_ = wanted == nullptr;
        void* place = nullptr;
        std::size_t bytes = 0;
        pthread_attr_getstack(&own_, &place, &bytes);
        bool const has_own = place != nullptr && reinterpret_cast<std::uintptr_t>(place) + bytes != 0;
        if (has_own || pthread_attr_setstacksize(&own_, largest_stack + more) != 0) return;
        chosen_ = &own_;
#endif
    }
    ~WithAnotherStack() {
        if (is_made_) pthread_attr_destroy(&own_);
    }
    WithAnotherStack(WithAnotherStack const&) = delete;
    WithAnotherStack& operator=(WithAnotherStack const&) = delete;

    pthread_attr_t const* attributes() const { return chosen_; }

  private:
    pthread_attr_t own_;
    bool is_made_ = false;
    pthread_attr_t const* chosen_;
};

}  // namespace

void threads_of_parent_are_gone() {
    parents_threads_are_gone = true;
}

// A signal that comes before the thread knows who it is would be handled by somebody else. So it begins with
// all of them blocked, unless the attributes have a mask of their own.
int create_without_signals(Thread& child, pthread_t* handle, pthread_attr_t const* attributes) {
    SignalsBlocked const alone;
    child.signal_mask = alone.before();
    sigset_t own;
    if (attributes != nullptr && pthread_attr_getsigmask_np(attributes, &own) == 0)
        child.signal_mask = *reinterpret_cast<std::uint64_t const*>(&own);
    WithAnotherStack const stack(attributes);
    return REAL(pthread_create)(handle, stack.attributes(), run_thread, &child);
}

int create(Thread& child, pthread_t* handle, pthread_attr_t const* attributes) {
    child.lent = scheduler::lends_threads();
    if (!child.lent) return create_without_signals(child, handle, attributes);
    return scheduler::create_lent(child.id, handle, attributes, run_thread, &child);
}

void start_interposing() {
    pthread_key_create(&end_key, at_thread_end);
    start_process_interposing();
    start_watching_crashes();
}

}  // namespace fencepost

FENCEPOST_INTERPOSE int pthread_create(pthread_t* handle, pthread_attr_t const* attributes,
                                       void* (*routine)(void*), void* argument) {
    Thread* child = nullptr;
    static constexpr char order_of_creation = 0;  // numbers the threads
    scheduler::Operation creation;
    creation.act = scheduler::Act::use;
    creation.object = &order_of_creation;
    scheduler::point(creation);
    {
        Hook hook;
        child = make_thread(hook.thread());
        child->made_by = keep_stack(hook.thread(), __builtin_frame_address(0));
        races::thread_made(hook.thread(), *child);
        if (is_weak()) weak::thread_made(hook.thread(), *child);
    }
    child->routine = routine;
    child->argument = argument;
    child->scheduled = scheduler::active();
    note_attributes(*child, attributes);
    int const error = create(*child, handle, attributes);
    if (error != 0) {
        Hook hook;
        races::thread_not_made(*child);
        thread_not_made(child);
        return error;
    }
    std::uint32_t const id = child->id;
    child->handle = *handle;
    __atomic_store_n(&child->published, true, __ATOMIC_RELEASE);
    if (scheduler::active()) scheduler::thread_created(id);
    return 0;
}

// Not without a name: real.hpp declares functions in the namespace around their use.
namespace fencepost::joins {

// Under a schedule the waiting happens there, until `deadline()`, and the real join is short.
template <class Deadline, class Real>
int join_by(pthread_t handle, void** result, int too_late, Deadline deadline, Real real) {
    Thread* const child = find_thread(handle);
    bool const scheduled = child != nullptr && scheduler::active();
    bool const lent = scheduler::lends_threads();
    if (lent && (child == nullptr || child->detached)) return child == nullptr ? ESRCH : EINVAL;
    if (scheduled && !scheduler::wait_for_end(child->id, deadline())) return too_late;
    if (lent && result != nullptr) *result = child->result;
    int const error = lent ? 0 : scheduled ? REAL(pthread_join)(handle, result) : real();
    if (error == 0 && child != nullptr) {
        Hook hook;
        races::thread_joined(hook.thread(), child->id);
        if (is_weak()) weak::thread_joined(hook.thread(), *child);
        join_thread(hook.thread(), child);
    }
    return error;
}

// A join without a limit: only an error lets this thread go on before it knows what the other one knows.
void will_join(Thread* child) {
    Hook hook;
    wait_to_join(hook.thread(), child);
}

// ThreadSanitizer knows limits on the system's clock only.
int join_by_clock(pthread_t handle, void** result, clockid_t clock, timespec const* until) {
#if defined(FENCEPOST_RACES)
    if (until == nullptr) return REAL(pthread_join)(handle, result);
    constexpr std::int64_t second = 1'000'000'000;
    timespec here, there;
    clock_gettime(CLOCK_REALTIME, &here);
    if (clock_gettime(clock, &there) != 0) return EINVAL;
    std::int64_t const rest = (until->tv_sec - there.tv_sec) * second + until->tv_nsec - there.tv_nsec;
    std::int64_t const end = here.tv_sec * second + here.tv_nsec + rest;
    timespec const limit{end / second, end % second};
    return REAL(pthread_timedjoin_np)(handle, result, &limit);
#else
    return REAL(pthread_clockjoin_np)(handle, result, clock, until);
#endif
}

inline std::int64_t deadline(timespec const* until, clockid_t clock) {
    return until == nullptr ? scheduler::never : scheduler::schedule_time(*until, clock);
}

}  // namespace fencepost::joins

using namespace fencepost::joins;

FENCEPOST_INTERPOSE int pthread_join(pthread_t handle, void** result) {
    will_join(find_thread(handle));
    int const error = join_by(
        handle, result, 0, [] { return scheduler::never; },
        [&] { return REAL(pthread_join)(handle, result); });
    if (error != 0) will_join(nullptr);
    return error;
}

FENCEPOST_INTERPOSE int pthread_tryjoin_np(pthread_t handle, void** result) noexcept {
    return join_by(
        handle, result, EBUSY, [] { return scheduler::now(); },
        [&] { return REAL(pthread_tryjoin_np)(handle, result); });
}

FENCEPOST_INTERPOSE int pthread_timedjoin_np(pthread_t handle, void** result, timespec const* until) {
    return join_by(
        handle, result, ETIMEDOUT, [&] { return deadline(until, CLOCK_REALTIME); },
        [&] { return REAL(pthread_timedjoin_np)(handle, result, until); });
}

FENCEPOST_INTERPOSE int pthread_clockjoin_np(pthread_t handle, void** result, clockid_t clock,
                                             timespec const* until) {
    return join_by(
        handle, result, ETIMEDOUT, [&] { return deadline(until, clock); },
        [&] { return join_by_clock(handle, result, clock, until); });
}

FENCEPOST_INTERPOSE int pthread_detach(pthread_t handle) {
    Thread* const child = find_thread(handle);
    bool const lent = scheduler::lends_threads();
    int const error = !lent              ? REAL(pthread_detach)(handle)
                      : child == nullptr ? ESRCH
                      : child->detached  ? EINVAL
                                         : 0;
    if (error == 0 && child != nullptr) detach_thread(*child);
    return error;
}

FENCEPOST_INTERPOSE void pthread_exit(void* result) {
    current_thread().result = result;
    REAL(pthread_exit)(result);
    __builtin_unreachable();
}

FENCEPOST_INTERPOSE int pthread_setname_np(pthread_t handle, char const* name) {
    if (Thread* const t = find_thread(handle); t != nullptr) name_thread(*t, name);
    return REAL(pthread_setname_np)(handle, name);
}
