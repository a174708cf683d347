// What happened in a run.
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
};

using Events = std::vector<Event>;

}  // namespace fencepost
