// The coarsest observation abstraction for persistence (persist-2015, section 10): one thread, the pivot. All
// other threads are replaced by a memory in which each cell that they write can change at any time to any
// value that they write there.
//
// Only the pivot's own steps are left to search. If none of its reads overtakes one of its writes while
// another thread might write another value to the cell it reads, the pivot is part of no violation.
#pragma once

#include "engine/search/options.hpp"

namespace fencepost {

// The values that threads other than the pivot write to a cell and, if there are any, all values that it can
// hold.
struct OpenCell {
    std::vector<Value> written, held;
};

// Whether the pivot is safe; also false if more than `most_states` are needed to see that.
bool is_safe_pivot(Program const& program, std::uint32_t pivot, std::vector<OpenCell> const& cells,
                   std::uint64_t most_states);

}  // namespace fencepost
