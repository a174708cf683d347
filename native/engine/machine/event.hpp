// What happens in a run: as events that are shown, and as events that a monitor is told.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/program/bytecode.hpp"

namespace fencepost {

enum class EventKind : std::uint8_t { read, write, read_modify_write, fence };

// An access as it happened, or would happen, under sequential consistency; or, for models that know them, an
// acquire or release fence, which has no cell.
struct Event {
    std::uint32_t thread;
    std::uint32_t pc;
    EventKind kind;
    std::uint32_t cell;
    Value read;
    Value written;
    bool taints = false;  // a load that could read a stale value instead
};

using Events = std::vector<Event>;

// One thing that a monitor is told.
struct MonitorEvent {
    enum class Kind : std::uint8_t {
        read,
        tainting_read,  // which may as well read a stale value
        write,
        read_modify_write,
        sc_fence,
        fence,
        non_atomic_read,
        non_atomic_write,
        exchange,  // or another renaming (search/symmetry.hpp)
    };
    // The effect of fences in a row that are no accesses: weak ones, and the SC fences of C++20. Any sequence
    // of them has one of these effects (labels.cpp).
    enum class Fences : std::uint8_t {
        acquire,
        release,
        acquire_release,
        release_acquire,
        sc,
    };

    Kind kind;
    std::uint32_t thread = 0;  // or the number of the renaming
    std::uint32_t cell = 0;
    bool acquire = true;  // the read part
    bool release = true;  // the write part
    bool sc = false;      // in the order of SC events
    StaleValue old = {};  // what a write makes stale
    Fences fences = Fences::acquire;

    // A fence that is no access, or the fences in an SC fence that no other thread can see.
    static MonitorEvent fence(std::uint32_t thread, Instruction const& i) {
        MonitorEvent event{Kind::fence, thread};
        event.fences = i.op == Op::acquire_fence   ? Fences::acquire
                       : i.op == Op::release_fence ? Fences::release
                       : i.op == Op::order_fence   ? Fences::sc
                                                   : Fences::acquire_release;
        return event;
    }
};

}  // namespace fencepost
