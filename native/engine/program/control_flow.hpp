// What a thread can do next and later, by its control flow alone.
#pragma once

#include <bitset>
#include <vector>

#include "engine/program/bytecode.hpp"

namespace fencepost {

constexpr std::size_t most_cells = 257;  // with the one that is reserved for SC fences
using CellSet = std::bitset<most_cells>;

// The cells that the instruction may access.
CellSet cells_of(Instruction const& instruction);

// The instructions that can come right after the one at pc, whatever the values.
std::vector<std::uint32_t> followers(Thread const& thread, std::uint32_t pc);

// Whether a choice can come after the instruction at pc, before the next access.
bool may_choose_after(Thread const& thread, std::uint32_t pc);

// The cells that a thread may read after each of its instructions, before anything drains its buffer.
std::vector<CellSet> reads_ahead(Thread const& thread, bool through_writes);

}  // namespace fencepost
