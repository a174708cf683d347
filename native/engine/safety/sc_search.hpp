// Can a bad state be reached under sequential consistency? Answered forwards, breadth first, over where the
// threads stand and what each cell holds; every edge is a step. The answer is exact.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/safety/safety.hpp"
#include "engine/safety/thread_graph.hpp"
#include "engine/search/options.hpp"

namespace fencepost {

class ScSearch {
  public:
    // Throws std::invalid_argument where write races are asked for: SC orders all writes.
    ScSearch(ThreadGraphs const& graphs, std::vector<BadStates> const& bad);
    ~ScSearch();

    // Goes on with the search; `complete` when nothing is left, `violation` when a run to a bad state was
    // found.
    Outcome run(Limits const& limits, Watcher const& watcher);

    ForwardStats stats() const;
    std::vector<RunStep> path() const;
    std::vector<std::uint32_t> start_nodes() const;  // where the path starts

  private:
    class Search;
    std::unique_ptr<Search> search_;
};

}  // namespace fencepost
