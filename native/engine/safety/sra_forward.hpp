// Can a bad state be reached under SRA? Answered forwards over opSRA, breadth first, with messages and views
// (sra_messages.hpp) in place of execution graphs; for finding bad states fast. The messages of a cell that
// can still matter may be without bound, so there is a limit for them. A search that ends without ever having
// met it has shown that no bad state can be reached.
//
// Reads move to the right over steps of other threads: they change the view of their thread only, and what
// could be read can still be read after a write of another thread. So runs are followed in blocks, some reads
// and a write or RMW of one thread, and only states between blocks are stored. Before a bad state, each
// thread does its last reads on its own.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/safety/safety.hpp"
#include "engine/safety/thread_graph.hpp"
#include "engine/search/options.hpp"

namespace fencepost {

class ForwardSearch {
  public:
    // A state with more than `most_messages` for a cell is left out. Throws std::invalid_argument if this is
    // 0 or more than 127.
    ForwardSearch(ThreadGraphs const& graphs, std::vector<BadStates> const& bad, std::uint32_t most_messages);
    ~ForwardSearch();

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
