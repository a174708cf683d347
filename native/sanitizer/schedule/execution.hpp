// One execution of an exploration, in the process that runs it: it goes by its plan, then on as it likes, but
// for what sleeps, and writes down its events. What outlives the process (fork_server.cpp) lies in shared
// memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/schedule/event.hpp"
#include "sanitizer/schedule/state.hpp"

namespace fencepost::scheduler::execution {

inline constexpr std::size_t most_events = 1 << 14;
inline constexpr std::size_t most_switches = 1 << 17;
inline constexpr std::size_t most_told = 1 << 14;

enum class Outcome : std::uint8_t {
    running,  // it was killed
    ended,
    stuck,      // a deadlock
    idle,       // nobody can go on, but some only because they were to wait longer than they must
    in_vain,    // nothing but what sleeps can come next, or the plan cannot be followed to its last event
    round,      // a loop was found to wait: all must begin anew, with what is known now
    apart,      // it did something else than was planned
    cut,        // a loop went round too often
    too_long,   // it had more steps than allowed
    too_large,  // it had more events than are kept
    bounded,    // it had more preemptions than allowed
};

// What the answer cannot be about, because only one way was tried.
enum Untried : std::uint32_t {
    draws = 1,  // random numbers
    time_limits = 2,
    clocks = 4,
    outside = 8,
    signals = 16,
    many_threads = 32,
    initialisations = 64,  // done once, by whoever comes first
    parts = 128,           // in which a thread sees those of memory that it waits for
};

struct Switch {
    std::uint64_t steps;  // of the thread before
    std::uint32_t to;
};

// What all executions of all walks share.
struct Common {
    std::uint32_t untried;
    std::uint64_t atomics;
    std::uint64_t told[most_told];
};
extern Common* common;  // null: there is no exploration

// Of one walk.
struct Shared {
    std::uint32_t planned, changed, asleep;  // the numbers of events in the lists below
    Outcome outcome;
    bool told_something;   // that was not known before
    bool found_something;  // and was a finding
    std::uint32_t events_count, switches_count;
    std::uint32_t threads;  // that were made
    std::uint64_t steps;
    Event wanted, met;  // where it went apart
    Event plan[most_events];
    Event sleeping[most_events];
    Event events[most_events];
    Switch switches[most_switches];
};
extern Shared* shared;             // null: as above
extern std::uint32_t most_rounds;  // of a loop that is not known to wait

// In the new process.
void begin(Settings const&);

// The thread is at a point, and this is what it will do.
void announce(detail::Thread&, Operation const&);

// The thread that takes the next step.
detail::Thread& next(detail::Thread* current);

void note_switch(std::uint64_t steps, std::uint32_t to);
void note_untried(Untried);
// The running thread goes on only because another has come so far.
void note_joined(std::uint32_t thread);
// The running thread goes on in one of several ways, fewer than most_alternatives: which?
inline constexpr std::uint32_t most_alternatives = 1 << 8;
std::uint32_t choose(std::uint32_t alternatives);
// Nobody can go on, or the process ends.
void note_end(bool stuck);
[[noreturn]] void give_up(Outcome);

}  // namespace fencepost::scheduler::execution
