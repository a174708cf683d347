// A finished graph as it is told to Python.
#pragma once

#include "engine/graphs/enumeration.hpp"

namespace fencepost {

// For each place of an event, its number in the graph that is told.
std::vector<std::uint32_t> told_numbers(ExecutionGraph const& graph);

ToldGraph told(ExecutionGraph const& graph);

}  // namespace fencepost
