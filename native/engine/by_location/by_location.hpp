// The search for violations one location at a time: first all states of the program without monitor, with the
// steps between them (program_graph.hpp), and then for each topic (topics.hpp) where its small monitor can
// come to along these steps. Of the monitors of a topic in one program state only maximal ones are kept.
#pragma once

#include "engine/search/explorer.hpp"

namespace fencepost {

// For RA and RC20. Nothing if the program is too wide for this search: too many threads, locations, or
// different operands.
std::optional<Result> explore_by_location(Program const& program, Model model, SearchOptions const& options,
                                          Watcher const& watcher);

}  // namespace fencepost
