// Schedules: one thread of the program runs at a time, and this decides which one is next.
//
//   os       no schedule
//   random   at every point a thread is drawn from those that can run
//   pct      the thread with the highest priority runs; priorities are random, and at depth - 1 random steps
//            the running thread falls below all others (Burckhardt and others, ASPLOS 2010). A thread that
//            repeats itself without effect falls too, because a spin loop would run for ever
//   replay   the decisions of an earlier run, from a file
//   explore  all of them that differ, one run each (exploration.hpp)
//
// A step is what a thread does from one point to the next. Time is counted in steps, a microsecond each, and
// runs ahead when every thread waits: sleeps and timed waits take no real time and repeat exactly.
//
// A thread is not interrupted between points: a loop that waits for a variable that is not atomic never ends.
//
// Threads that the library has not seen starting, and threads after thread_ends(), run beside the schedule:
// active() is false in them, and the rest of the library still needs its locks because of them.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sanitizer/schedule/event.hpp"
#include "sanitizer/system/options.hpp"

namespace fencepost {
class Text;
}

namespace fencepost::scheduler {

using ThreadId = std::uint32_t;  // main is 0
inline constexpr ThreadId no_thread = UINT32_MAX;

struct Operation;

namespace detail {
struct Thread;
extern constinit thread_local Thread* self [[gnu::tls_model("initial-exec")]];
extern std::uint32_t steps_without_effect;
extern std::uint32_t waiting_for_memory;
extern bool exploring;
extern bool as_explored;  // exploring, or repeating an execution of an exploration
void step(bool yields);
void memory_has_changed();
void step(Operation const&, bool yields);
}  // namespace detail

// From the initialisation of the library, in the main thread.
void start(Settings const&);
// In the child of a fork where the program has not begun: as if it had been started with these settings.
void start_again(Settings const&);
// In such a child, before: for runs that begin as often as this process goes back (restart.hpp).
bool can_repeat();
void prepare_to_repeat(std::uint32_t threads);
// Does this process end where others of its kind may go on from?
bool is_one_of_many();

// Does this thread run under a schedule? Mode races has none.
#if defined(FENCEPOST_RACES)
constexpr bool active() {
    return false;
}
#else
inline bool active() {
    return detail::self != nullptr;
}
#endif

// Called where the thread may lose its turn, before that; may be null.
extern void (*before_others_run)();

// Before every atomic operation and fence, and before calls of the synchronisation library that do not block
// (the functions of schedule/sync.hpp have their own): perhaps others run first. Not with a lock of the
// library held.
inline void point() {
    if (active()) detail::step(false);
}

// The same where the thread cannot go on before another has done something: a repetition of an await loop,
// sched_yield, a pause instruction.
inline void yield_point() {
    if (active()) detail::step(true);
}

// Are all schedules being run? Then points should say what comes.
inline bool exploring() {
    return active() && detail::exploring;
}

struct Wait;

// What the thread will do after a point, as far as others can notice it.
struct Operation {
    Act act = Act::nothing;
    void const* object = nullptr;
    std::uint8_t size = 1;
    bool sc = false;               // it is an SC fence too
    void const* second = nullptr;  // another object that it is a call on
    std::uint64_t expected = 0;    // of a compare-exchange
    Until until = Until::always;
    std::uint64_t awaited = 0;
    std::uintptr_t pc = 0;
    Wait const* wait = nullptr;                     // for what, if it may have to; it must outlive the point
    std::uint64_t (*state)(void const*) = nullptr;  // of an object that is not memory
    bool looks_before_waiting = false;              // it has something to do even if it can never go on
};
// The thread is at an access that a loop may repeat, in this state: finds out whether the loop waits
// (rounds.hpp). Only if exploring().
void look_for_rounds(Operation&, std::uint64_t state);

inline void point(Operation const& operation, bool yields = false) {
    if (active()) detail::step(operation, yields);
}

// The operation just done changed memory, so the thread does not merely spin.
inline void progress() {
    detail::steps_without_effect = 0;
    if (detail::exploring) detail::memory_has_changed();
}

inline constexpr std::int64_t never = INT64_MAX;

// What a blocked thread waits for. `ready` must depend on nothing but what wake(object) is called after; it
// is asked in any thread of the schedule and must not block or reach a point.
struct Wait {
    bool (*ready)(void*);
    void* argument;
    void const* object;
    char const* on_what;  // "mutex", "condition variable", … for the report of a deadlock
    std::int32_t const* owner =
        nullptr;                    // the kernel's number of the thread that can end the wait, if one can
    std::int64_t deadline = never;  // in nanoseconds of now()
    bool memory = false;            // object is an atomic location
    bool may_end_early = false;     // for no reason, as condition variables and futexes may
    bool interruptible = false;     // a signal that the thread has handled ends it too
    bool cancellable = false;       // pthread_cancel ends it too; the caller then looks for that
    bool time_limit = false;        // it ends in time, but that is tried elsewhere (chosen_to_run_out)
    bool outside = false;           // the world outside the schedule can end it: `ready` is asked anew
};

// Blocks until the wait is over; false if its deadline, or a signal where allowed, came first. Only if
// active().
[[gnu::noinline]] bool block(Wait const&);

// The object may have changed as some thread waits for. Harmless if nobody waits; any thread may call it.
void wake(void const* object);

// For waits on atomic locations (fp_wait and its like), the object being the address: after a write that
// changed a value, `if (memory_awaited()) wake(address)`.
inline bool memory_awaited() {
    return detail::waiting_for_memory != 0;
}

// In an exploration threads are lent kernel threads (lending.hpp), which do not end: as pthread_create. Then
// the real pthread_join is not to be called, nor pthread_detach.
bool lends_threads();
int create_lent(ThreadId child, pthread_t* handle, pthread_attr_t const*, void* (*routine)(void*),
                void* argument);

// Only if the parent was active() when it called pthread_create. In the parent, after that has succeeded; the
// child is schedulable from here on.
void thread_created(ThreadId child);
// In the child, before anything else.
void thread_begins(ThreadId self);
// In any thread, after the last round of destructors: it leaves the schedule.
void thread_ends();
// Blocks until that has happened, so that the real pthread_join is short; false if the deadline passed first.
bool wait_for_end(ThreadId, std::int64_t deadline = never);

// In the child of a fork: the other threads are gone.
void forked();

// A number below n that depends on the seed and on earlier calls only (fp_choose). In an exploration all of
// them are tried, if they are not too many.
std::uint32_t choose(std::uint32_t n);
// The same, but one number is enough: it is meant to be random.
std::uint32_t draw(std::uint32_t n);
// Does this allocation fail? Some do in an exploration, if that was asked for.
bool allocation_fails();

// In a weak execution (core/weak_memory.hpp): which of n writes a load reads, the newest being 0.
std::uint32_t choose_write(std::uint32_t n);

// Steps taken so far by all threads, and the time it is by them: CLOCK_MONOTONIC in nanoseconds.
std::uint64_t steps();
std::int64_t now();

// Where the program ends its process: in an exploration others may go on before.
void exit_point();

// Before the process ends in an orderly way: completes the file of decisions.
void finish();

// Instead of _exit: in an exploration the process may go on with another execution.
[[noreturn]] void end_process(int code);

// In an exploration: has no execution yet said what has this hash? Then this one does. Elsewhere: true.
bool is_news(std::uint64_t hash);
// The same for what is no finding.
bool is_new_line(std::uint64_t hash);
// Has one said it, or found that it need not be said? Elsewhere: false.
bool is_known(std::uint64_t hash);
void note_known(std::uint64_t hash);
// In an exploration: counted over all executions.
void count_atomics(std::uint64_t);

// Reports of the scheduler, defined in report/findings.cpp. All end the process.
struct Blocked {
    ThreadId thread;
    char const* on_what;
    void const* object;
    ThreadId owner;     // the thread that could end the wait, or no_thread
    void const* frame;  // frame pointer in the blocked call, for its stack
};
// Where a thread stands that is not to be found waiting.
struct Standing {
    ThreadId thread;
    char const* on_what;  // it waits for that; null: it has its turn, or could have it
    void const* frame;
    std::uintptr_t pc;  // in the innermost function, if that is known; else 0
};
void report_stall(std::uint32_t seconds, Standing const* threads, std::size_t count);  // and goes on
[[noreturn]] void report_deadlock(Blocked const* threads, std::size_t count);
[[noreturn]] void report_step_limit(std::uint64_t steps);
[[noreturn]] void report_no_schedules();  // in mode races

// Reports of an exploration, defined in report/explored.cpp. What an execution has found it writes itself.
void execution_begins();  // in its process
// A run of a series begins (series.cpp).
void run_begins(bool tells);
std::uint64_t events_so_far();  // the size of their file
// Several walks may share the work. What follows in this process is said by that one, or by none.
void prepare_reports(std::uint32_t walks);
void report_as_walk(std::uint32_t number);
void report_nothing();
// What was said of executions so far, to be said again by the first walk.
void copy_reports(Text& into);
void repeat_reports(std::string_view);
void report_not_resumed(std::string_view why);
void report_not_saved();

struct ExecutionReport {
    std::uint64_t number;
    int exit_code, signal;  // one of them is not 0 if the program failed
    char const* trouble;    // "", or why the execution came to no proper end
    std::string_view decisions;
    std::string_view output;
};
void report_execution(ExecutionReport const&);

struct ExplorationReport {
    std::uint64_t executions, in_vain, cut, bounded, steps, atomics;
    double share, seconds;
    char const* why;  // it came to no end; "" if all has been run
    std::uint32_t untried;
    Event const* wanted;  // where an execution went apart, and what came instead; null: it did not
    Event const* met;
};
void report_exploration(ExplorationReport const&, bool at_end);

}  // namespace fencepost::scheduler
