// Happens-before between threads that run one at a time, for the race detector of mode full.
//
// The rules are those of races/feed.hpp, exactly what C++20 says (intro.races, atomics.order,
// atomics.fences):
//
//   C                  what happens before the thread's next access
//   read               acquire: C ⊔= W[x]; relaxed: A ⊔= W[x]
//   write              release: W[x] = C; relaxed: W[x] = R
//   RMW                both, but what W[x] carried before is kept: a release sequence
//   acquire fence      C ⊔= A
//   release fence      R = C
//   SC fence           acquire fence and release fence
//   mutexes and such   an unlock adds C to what the object carries, a lock acquires that
//
// Why not C of core/clock.hpp: its times go on when a thread learns of a write, so a plain access between two
// releases has no time of its own; the collector renames them; and SC fences order more there (RC20).
//
// Clocks are vectors of epochs, by slot. The epoch of a thread goes on after each release: what it does later
// is not part of that. Between two moments at which a thread learns something only its own epoch changes, so
// all that it knew at a release is a `Moment`: a past, which many share, and an epoch.
//
// Only the thread whose turn it is comes here, so there are no locks.
#pragma once

#include <cstdint>

#include "sanitizer/core/locations.hpp"
#include "sanitizer/core/threads.hpp"

namespace fencepost {

namespace races {

using Epoch = std::uint64_t;
using RaceSlot = std::uint32_t;  // not the slot of core: that one may be used again too soon

struct Past {
    std::uint32_t holders, width;
    Epoch known[];
};

struct Moment {
    Past* past;
    Epoch epoch;
    RaceSlot slot;
};

// In shadow memory an epoch has 40 bits and a slot 14 (races/accesses.hpp).
inline constexpr unsigned slot_bits = 14;
inline constexpr std::uint32_t most_race_slots = 1u << slot_bits;

}  // namespace races

struct RaceClocks {
    races::RaceSlot slot;
    std::uint32_t thread;   // its number
    races::Epoch epoch;     // now; known[slot] is the same
    std::uint64_t stamp;    // epoch and slot, as shadow memory has them
    races::Epoch* known;    // C
    races::Epoch* pending;  // A, as far as C does not know it
    bool has_pending;
    std::uint32_t ignored;  // while not 0, the program wants its plain accesses ignored
    races::Moment fenced;   // R; its past is null: no release fence yet
    races::Past* past;      // the past of now; null: the thread has learned something since
    RaceClocks* next;       // of those that nobody uses

    bool knows(races::RaceSlot other, races::Epoch at) const { return known[other] >= at; }
};

namespace races {

// Are plain accesses of this thread watched? Not without a schedule, nor in threads beside it.
inline bool watches(Thread const& t) {
    return t.race_clocks != nullptr;
}

// How far this run was watched.
enum class Watch : std::uint8_t { none, all, part };
extern Watch watch;
// Something happens that the clocks cannot follow: no plain access is watched from now on.
void stop_watching();

// The schedule has begun, in the main thread.
void watch_main(Thread&);
void thread_made(Thread& parent, Thread& child);
void thread_not_made(Thread& child);
// The last that a thread does under the schedule.
void thread_ended(Thread&);
void thread_joined(Thread&, std::uint32_t child);
// In the child of a fork: what other threads did before it is no race with what comes now.
void forked(Thread&);

void acquire_message(Thread&, RaceMessage&, bool acquire);
void publish(Thread&, RaceMessage&, bool release);
void extend(Thread&, RaceMessage&, bool release);
void acquire_fence(Thread&);
void release_fence(Thread&);

// Mutexes and their like.
inline void acquire_object(Thread& t, RaceMessage& m) {
    acquire_message(t, m, true);
}
inline void release_object(Thread& t, RaceMessage& m) {
    extend(t, m, true);
}
RaceMessage copy_message(RaceMessage const&);
// It carries nothing any more.
void forget_message(RaceMessage&);

}  // namespace races
}  // namespace fencepost
