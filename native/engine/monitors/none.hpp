// No monitor: plain sequential consistency, for assertions and races alone.
#pragma once

#include "engine/program/bytecode.hpp"
#include "engine/state/layout.hpp"

namespace fencepost {

struct NoMonitor {
    static constexpr bool watches = false;
    static constexpr bool has_modes = false;

    NoMonitor(Program const&, Layout&) {}
    void start(Word*) const {}
    void read(auto&, std::uint32_t, std::uint32_t, Instruction const&) const {}
    void write(auto&, std::uint32_t, std::uint32_t, Value, Instruction const&) const {}
    void read_modify_write(auto&, std::uint32_t, std::uint32_t, Value, Instruction const&) const {}
    void sc_fence(auto&, std::uint32_t, std::uint32_t) const {}
    void fence(auto&, std::uint32_t, Instruction const&) const {}
    void non_atomic_read(auto&, std::uint32_t, std::uint32_t) const {}
    void non_atomic_write(auto&, std::uint32_t, std::uint32_t) const {}

    void add_exchange(Exchange const&, BitSwaps&) const {}
    std::vector<Field> fields_of_thread(std::uint32_t) const { return {}; }
};

}  // namespace fencepost
