// The total order S of the seq_cst events of C++20: `masks_before_in_s` of models/cpp20.py.
#pragma once

#include "engine/graphs/execution_graph.hpp"

namespace fencepost {

// Whether what S must contain is acyclic.
bool has_s(ExecutionGraph const& graph);

}  // namespace fencepost
