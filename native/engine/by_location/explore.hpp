// Robustness against a model: chooses the search, the monitor and the store.
#pragma once

#include <optional>
#include <vector>

#include "engine/monitors/rules.hpp"
#include "engine/search/options.hpp"

namespace fencepost {

Result explore(Program const& program, Model model, SearchOptions const& options, Watcher const& watcher);

// Every state reached under sequential consistency, for tests.
std::vector<PlainState> reachable(Program const& program, std::uint64_t most_states);

// The search for violations one location at a time: first all states of the program without monitor, with the
// steps between them (program_graph.hpp), and then for each topic (topics.hpp) where its small monitor can
// come to along these steps. Of the monitors of a topic in one program state only maximal ones are kept.
//
// Nothing if the model has no rules, or if the program is too wide for this search: too many threads,
// locations or different operands.
std::optional<Result> explore_by_location(Program const& program, Model model, SearchOptions const& options,
                                          Watcher const& watcher);

}  // namespace fencepost
