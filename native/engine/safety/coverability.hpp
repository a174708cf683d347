// Can a bad state be reached under SRA? Answered backwards over potentials: loSRA of sra-2020, section 5, is
// a well-structured transition system, so from the bad states the minimal states that can reach them are
// found in finitely many steps (section 6), in the form of design.md, section 6.
//
// A state ⟨p̄, B⟩ says where each thread stands and gives it a potential, a set of option lists. It stands for
// all states above it: ⟨p̄, B⟩ ⊑ ⟨p̄, B'⟩ iff every list of B is a subsequence of one of the same thread in B'.
// Kept are the minimal ones. When no state is left to go back from, their upward closure is an inductive
// invariant: it contains the bad states, no initial state, and every (possible) predecessor of its states.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "engine/safety/option_lists.hpp"
#include "engine/safety/possible.hpp"
#include "engine/safety/safety.hpp"
#include "engine/safety/sources.hpp"
#include "engine/safety/thread_graph.hpp"

namespace fencepost {

struct BackwardStats {
    std::uint64_t transitions = 0;  // predecessors looked at
    std::uint64_t states = 0;       // of them kept, at least for a time
    std::uint64_t basis = 0;        // minimal states now
    std::uint64_t waiting = 0;
    std::uint64_t impossible = 0;  // predecessors left out by a pruning
    std::uint64_t covered = 0;     // predecessors above a known state
    std::uint64_t longest = 0;     // options in the longest list
    std::size_t bytes = 0;
};

struct BasisState {
    std::vector<std::uint32_t> nodes;
    std::uint32_t phase;
    std::vector<std::vector<std::vector<std::pair<Source, Flag>>>> potentials;
};

class Coverability {
  public:
    Coverability(ThreadGraphs const& graphs, std::vector<BadStates> const& bad, Prunings const& prunings);
    ~Coverability();

    // Goes on with the search; `complete` when nothing is left, `violation` when a run to a bad state was
    // found.
    Outcome run(Limits const& limits, Watcher const& watcher);

    BackwardStats stats() const;
    std::vector<RunStep> path() const;
    std::vector<std::uint32_t> start_nodes() const;  // where the path starts
    std::vector<BasisState> basis() const;

  private:
    class Search;
    std::unique_ptr<Search> search_;
};

}  // namespace fencepost
