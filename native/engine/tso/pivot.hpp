// The coarsest observation abstraction for persistence (persist-2015, section 10): one thread, the pivot, and
// in place of all others a memory in which the cells that they write change at any time to any value they
// write.
//
// Only the pivot's own steps are left to search. If none of its reads overtakes one of its writes while
// another thread might write another value to the cell it reads, the pivot is part of no violation.
#pragma once

#include "engine/search/options.hpp"

namespace fencepost {

// What may happen to a cell: the values that threads other than the pivot write, and where there are such,
// all values that it can hold.
struct OpenCell {
    std::vector<Value> written, held;
};

// Whether the pivot is safe; false also if that takes more than so many states.
bool is_safe_pivot(Program const& program, std::uint32_t pivot, std::vector<OpenCell> const& cells,
                   std::uint64_t most_states);

}  // namespace fencepost
