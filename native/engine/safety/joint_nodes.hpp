// Where all threads stand together: tuples of nodes, each numbered once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/safety/sources.hpp"
#include "engine/safety/thread_graph.hpp"

namespace fencepost {

using TupleNumber = std::uint32_t;
using Nodes = std::span<std::uint32_t const>;

class JointNodes {
  public:
    explicit JointNodes(std::size_t threads) : threads_(threads) {}
    Nodes operator[](TupleNumber n) const { return {nodes_.data() + n * threads_, threads_}; }
    // The number of the tuple, and whether it is new.
    std::pair<TupleNumber, bool> add(Nodes tuple);
    std::optional<TupleNumber> find(Nodes tuple) const;
    std::size_t size() const { return count_; }
    std::size_t bytes() const { return (nodes_.capacity() + slots_.capacity()) * sizeof(std::uint32_t); }

  private:
    std::size_t slot_of(Nodes tuple) const;
    void grow();

    std::size_t threads_;
    std::size_t count_ = 0;
    std::vector<std::uint32_t> nodes_;
    std::vector<std::uint32_t> slots_;  // tuple + 1 by hash, 0 where empty
};

// An over-approximation of the tuples that the threads can reach together between blocks (coverability.hpp),
// where each thread is at its start or right after a write: a read may take any value that some thread can
// have written before its present node, an RMW any that can be the last one of its writer. Nothing if there
// are more than `most`.
std::optional<JointNodes> joint_tuples(ThreadGraphs const& graphs, Sources const& sources, std::size_t most);

}  // namespace fencepost
