// What a thread can still do from where it stands, and so which messages, and which parts of views, still
// matter to a forward search under SRA. What it cannot do from a node it cannot do from those after it.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/numbered_labels.hpp"
#include "engine/safety.hpp"
#include "engine/sources.hpp"
#include "engine/thread_graph.hpp"

namespace holdfast {

class SraNeeds {
  public:
    SraNeeds(ThreadGraphs const& graphs, NumberedLabels const& labels, std::vector<BadStates> const& bad);

    bool reads(std::uint32_t t, std::uint32_t node, std::uint32_t cell) const {
        return can_[t][node].has(4 * cell);
    }
    bool modifies(std::uint32_t t, std::uint32_t node, std::uint32_t cell) const {
        return can_[t][node].has(4 * cell + 1);
    }
    bool writes(std::uint32_t t, std::uint32_t node, std::uint32_t cell) const {
        return can_[t][node].has(4 * cell + 2);
    }
    // Whether the thread can come to where bad states ask for a race of its write to the cell.
    bool races(std::uint32_t t, std::uint32_t node, std::uint32_t cell) const {
        return can_[t][node].has(4 * cell + 3);
    }
    bool reads_value(std::uint32_t t, std::uint32_t node, std::uint32_t cell, std::uint32_t value) const {
        return can_[t][node].has(values_from_[cell] + value);
    }
    // Whether bad states ask for the last value of the cell.
    bool is_asked(std::uint32_t cell) const { return asked_[cell]; }

    // Whether t stands where it has to for the bad states of this number, can come there by reads alone, or
    // can come there at all.
    bool is_there(std::uint32_t t, std::uint32_t node, std::size_t bad) const {
        return there_[t][node].has(bad);
    }
    bool is_near(std::uint32_t t, std::uint32_t node, std::size_t bad) const {
        return near_[t][node].has(bad);
    }
    bool can_come(std::uint32_t t, std::uint32_t node, std::size_t bad) const {
        return can_come_[t][node].has(bad);
    }

  private:
    using PerNode = std::vector<NumberSet>;

    void find_places(ThreadGraphs const& graphs, NumberedLabels const& labels,
                     std::vector<BadStates> const& bad);
    void find_accesses(ThreadGraphs const& graphs, NumberedLabels const& labels,
                       std::vector<BadStates> const& bad);

    std::vector<std::size_t> values_from_;  // per cell
    std::vector<bool> asked_;
    std::vector<PerNode> can_, there_, near_, can_come_;  // per thread
};

}  // namespace holdfast
