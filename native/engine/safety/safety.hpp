// Safety: can a bad state be reached? What bad states are, what a run to one looks like, and the forward
// searches that answer this over the graphs of the threads; coverability.hpp has the backward one.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "engine/safety/thread_graph.hpp"
#include "engine/search/options.hpp"
#include "engine/state/store.hpp"

namespace fencepost {

// Bad states: thread t stands at one of `nodes[t]`, or at any if there are none. With `memory`, these cells
// end with these values. With `race`, that thread is about to write that cell although it can still read a
// write that has been overwritten.
struct BadStates {
    struct CellValue {
        std::uint32_t cell;
        Value value;
    };
    struct WriteRace {
        std::uint32_t thread, cell;
    };
    std::vector<std::vector<std::uint32_t>> nodes;
    std::vector<CellValue> memory;
    std::optional<WriteRace> race;
};

// A step of a run to a bad state, forwards. A read takes its value from a write of `writer` (the number of
// threads: the initial memory).
struct RunStep {
    std::uint32_t thread, pc;
    Label label;
    std::uint32_t to;  // node
    std::uint32_t writer;
};

struct ForwardStats {
    std::uint64_t states = 0;
    std::uint64_t transitions = 0;
    std::uint64_t waiting = 0;
    std::size_t bytes = 0;
    bool truncated = false;  // some states were left out: that the search has ended proves nothing
};

// Lets a forward search go on until it has found a bad state, has nothing left, or meets a limit.
template <class Search>
Outcome go_on(Search& search, Limits const& limits, Watcher const& watcher) {
    auto const start = std::chrono::steady_clock::now();
    double told = 0;
    try {
        while (!search.found()) {
            if (!search.expand_next()) return Outcome::complete;
            auto const stats = search.stats();
            if (stats.states > limits.states) return Outcome::state_limit;
            if (stats.bytes > limits.bytes) return Outcome::memory_limit;
            std::chrono::duration<double> const passed = std::chrono::steady_clock::now() - start;
            auto const seconds = passed.count();
            if (seconds > limits.seconds) return Outcome::time_limit;
            if (seconds < told + 0.1) continue;
            told = seconds;
            if (watcher && watcher({stats.states, stats.transitions, stats.waiting, stats.bytes, seconds}))
                return Outcome::interrupted;
        }
    } catch (std::bad_alloc const&) {
        return Outcome::memory_limit;
    }
    return Outcome::violation;
}

// Can a bad state be reached under sequential consistency? Answered forwards, breadth first, over where the
// threads stand and what each cell holds; every edge is a step. The answer is exact.
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

// Can a bad state be reached under SRA? Answered forwards over opSRA, breadth first, with messages and views
// (sra_messages.hpp) in place of execution graphs, to find bad states fast. There may be unboundedly many
// messages of a cell that still matter, so their number is limited. A search that ends without having met the
// limit has shown that no bad state can be reached.
//
// Reads commute to the right with steps of other threads: they only change the view of their thread, and what
// can be read can still be read after a write of another thread. So runs are followed in blocks, some reads
// and a write or RMW of one thread, and only states between blocks are stored. Before a bad state, each
// thread does its last reads on its own.
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
