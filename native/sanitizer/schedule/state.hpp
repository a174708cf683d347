// What the parts of the scheduler share: the threads, those of them that can run, and the count of steps.
// Only the thread whose turn it is touches any of it.
#pragma once

#include <cstdint>

#include "sanitizer/schedule/event.hpp"
#include "sanitizer/schedule/rounds.hpp"
#include "sanitizer/schedule/scheduler.hpp"
#include "sanitizer/schedule/switch.hpp"

namespace fencepost::scheduler::detail {

enum class End : std::uint8_t { ready, deadline, cancelled, signal };

struct Thread {
    Fiber fiber;
    ThreadId id;
    bool claimed;         // the place in the table is in use
    bool runnable;        // in the list of those that can run, else in that of the blocked
    bool waiting;         // `wait` is not over; a runnable thread that waits was woken, but not yet asked
    std::uint32_t place;  // in its list
    std::int64_t priority;
    std::uint64_t own_steps;    // in pct: that it has made,
    std::uint64_t own_changes;  // and the change points at one of them, a bit each

    Wait wait;
    End end;            // of the last wait
    void const* frame;  // where it was when it last did not go on
    bool chosen;        // block_until_chosen
    std::uint32_t choice_bits;

    std::uint64_t sent_signals;  // by pthread_kill, for its next turn
    std::uint32_t handlers;      // of such signals that run now
    bool interrupted;            // a wait that a signal ends should end
    bool cancelled;              // pthread_cancel was called and has not been looked at
    std::uint32_t pinned;        // while not 0 the thread keeps its turn at points

    // In an exploration (execution.hpp):
    Operation operation;      // its next step
    Event pending;            // as an event
    std::int32_t last_event;  // its own
    std::int32_t after;       // what let it go on
    std::uint64_t joined;     // since its last event
    std::uint32_t clock_reads;
    std::int64_t time_ahead;  // nanoseconds that have passed for it: in sleep, and in waits that ran out
    void const* initialises;  // pthread_once_t
    Path path;                // (rounds.hpp)
    std::uint32_t round;      // where in it a known round begins, if its next step must not end that
    bool at_step;             // the next event is the last step of the path
    RepeatedReads repeated;
};

// A set of threads. Its order depends on the decisions so far, and on nothing else.
struct ThreadList {
    Thread** items;
    std::uint32_t count;

    void add(Thread& thread) {
        thread.place = count;
        items[count++] = &thread;
    }
    void remove(Thread& thread) {
        Thread* const last = items[--count];
        items[thread.place] = last;
        last->place = thread.place;
    }
};

inline constexpr std::uint32_t most_threads = 1 << 15;  // as many as Linux gives a process by default

extern ThreadList runnable, blocked;
extern std::uint64_t taken;        // steps
extern std::uint64_t run_started;  // the step at which the running thread was switched to

// Null if there is no such thread, or none any more.
Thread* find(ThreadId);

// Is it this thread's turn? Not in a signal handler that interrupted the scheduler, and not in one that runs
// while another thread runs.
bool has_turn();
// The one whose turn it is; null while that is decided. Any thread may ask.
Thread const* thread_with_turn();

// Waits that end only when somebody chooses this thread: condition variables, futexes, barriers. A thread
// that waits with bits can be chosen by a call that has one of them. Among several threads the choice is
// random; the number of chosen ones is returned.
inline constexpr std::uint32_t all_bits = UINT32_MAX;
bool block_until_chosen(Wait, std::uint32_t bits = all_bits);
std::uint32_t choose_waiting(void const* object, std::uint32_t count, std::uint32_t bits = all_bits);

// For calls that are cancellation points: as block, but a cancelled thread does not return.
bool block_or_be_cancelled(Wait);

// Numbers from a seed (SplitMix64).
struct Random {
    std::uint64_t state;

    std::uint64_t next() {
        std::uint64_t z = state += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
    }
    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>((next() >> 32) * n >> 32); }
};

}  // namespace fencepost::scheduler::detail
