// What a step does, as far as other threads can notice it, and which steps depend on each other. Executions
// that differ only in the order of independent events are the same (shared/exhaustive.md says why), so the
// exploration (exploration.hpp) runs one of them.
//
//   dependent are
//     events of one thread
//     accesses that overlap, one of which at least writes; a compare-exchange that fails is a read
//     under rc20, where SC fences are read-modify-writes of one location: those, and seq_cst accesses
//     calls on the same mutex, condition variable, semaphore, …
//     the end of the process, and everything
//   a choice is independent of all other threads. It is made at once where its thread comes to it, so it
//   follows the event that let the thread come so far, with nothing but other choices in between
#pragma once

#include <cstdint>

#include "sanitizer/schedule/rounds.hpp"

namespace fencepost::scheduler {

enum class Act : std::uint8_t {
    nothing,  // that others could notice
    read,
    write,
    update,   // reads and writes
    compare,  // an update if memory holds `expected`, else a read
    use,      // a call on an object of the synchronisation library
    end,      // of the process
    choose,   // one of several ways to go on
};

// When the event can happen.
enum class Until : std::uint8_t {
    always,
    equal,     // memory holds `awaited`
    no_round,  // what memory holds does not let the loop `awaited` go round (rounds.hpp)
    free,      // the object's state has a bit of `awaited`
    busy,      // it has none
    unknown,   // cannot be told from what is kept here: the run will show
};

struct Event {
    std::uint32_t thread;
    Act act;
    Until until;
    std::uint8_t size;   // of the access
    bool sc;             // and an SC fence
    bool crashes;        // the process, before another event
    bool pending;        // did not happen: the process ended, or the thread waited for ever
    std::int32_t after;  // an earlier event without which this one could not be; -1: only those of its thread
    std::uint64_t joined;  // threads, as bits, that must have ended before
    std::uintptr_t object, second;
    std::uint64_t expected, awaited;
    std::uint64_t before;  // what memory held before the event; of other objects, their state
    std::uintptr_t pc;
    std::uint32_t chosen, alternatives;  // of a choice: the way taken, and how many there are
};

inline constexpr std::int32_t no_event = -1;
inline constexpr std::uint32_t most_joined = 64;  // threads that can be

inline bool is_visible(Event const& e) {
    return e.act != Act::nothing;
}

inline bool ends_process(Event const& e) {
    return e.act == Act::end || e.crashes;
}

inline bool writes(Event const& e) {
    switch (e.act) {
        case Act::write:
        case Act::update:
        case Act::use:
        case Act::end:
            return true;
        case Act::compare:
            return e.size > 8 || e.before == e.expected;
        default:
            return false;
    }
}

inline bool touches(Event const& e, std::uintptr_t object, std::uint8_t size) {
    if (object == 0) return false;
    if (e.object != 0 && e.object < object + size && object < e.object + e.size) return true;
    return e.second != 0 && e.second < object + size && object <= e.second;
}

inline bool same_memory(Event const& a, Event const& b) {
    return a.object == b.object && a.size == b.size;
}

inline bool same_object(Event const& a, Event const& b) {
    return touches(b, a.object, a.size) || touches(b, a.second, 1);
}

// What the memory model says about SC fences.
enum class ScFences : std::uint8_t { ordered, commute };

inline bool dependent(Event const& a, Event const& b, ScFences fences) {
    if (a.thread == b.thread) return true;
    if (!is_visible(a) || !is_visible(b)) return false;
    if (a.act == Act::choose || b.act == Act::choose) return false;
    if (ends_process(a) || ends_process(b)) return true;
    if (a.sc && b.sc && fences == ScFences::ordered) return true;
    return same_object(a, b) && (writes(a) || writes(b));
}

// Could the event happen if memory, or the state of its object, were this?
inline bool can_happen(Event const& e, std::uint64_t state) {
    switch (e.until) {
        case Until::equal:
            return state == e.awaited;
        case Until::no_round:
            return !is_round(e.awaited, state);
        case Until::free:
            return (state & e.awaited) != 0;
        case Until::busy:
            return (state & e.awaited) == 0;
        default:
            return true;
    }
}

// Is it the same step of the program, whatever it met?
inline bool same_step(Event const& a, Event const& b) {
    return a.thread == b.thread && a.act == b.act && a.object == b.object && a.second == b.second &&
           a.size == b.size && a.sc == b.sc && a.chosen == b.chosen && a.alternatives == b.alternatives;
}

}  // namespace fencepost::scheduler
