// No monitor: plain sequential consistency, for assertions and races alone.
#pragma once

#include "engine/bytecode.hpp"
#include "engine/layout.hpp"

namespace holdfast {

struct NoMonitor {
    static constexpr bool watches = false;

    NoMonitor(Program const&, Layout&) {}
    void start(Word*) const {}
    void read(Word*, std::uint32_t, std::uint32_t, Instruction const&) const {}
    void write(Word*, std::uint32_t, std::uint32_t, Value, Instruction const&) const {}
    void read_modify_write(Word*, std::uint32_t, std::uint32_t, Value, Instruction const&) const {}
    void fence(Word*, std::uint32_t, Instruction const&) const {}
};

}  // namespace holdfast
