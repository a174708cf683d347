// What matters to a forward search.
//
// Only some cells do: those that some thread reads or the bad states ask about; a write to another one is
// silent. `NumberedLabels` numbers these cells anew, and the values of each from 0. `SraNeeds` says what a
// thread can still do from where it stands, and so which messages, and which parts of views, still matter
// under SRA. What a thread cannot do from a node it cannot do from those after it.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "engine/safety/joint_nodes.hpp"
#include "engine/safety/safety.hpp"
#include "engine/safety/sources.hpp"
#include "engine/safety/thread_graph.hpp"

namespace fencepost {

struct NumberedLabel {
    LabelKind kind = LabelKind::silent;
    std::uint32_t cell = 0;
    std::uint32_t read = 0, written = 0;

    bool reads() const { return kind == LabelKind::read || kind == LabelKind::read_modify_write; }
    bool writes() const { return kind == LabelKind::write || kind == LabelKind::read_modify_write; }
};

class NumberedLabels {
  public:
    NumberedLabels(ThreadGraphs const& graphs, std::vector<BadStates> const& bad);

    NumberedLabel const& operator()(std::uint32_t thread, std::uint32_t edge) const {
        return labels_[thread][edge];
    }
    std::uint32_t cells() const { return static_cast<std::uint32_t>(values_.size()); }
    std::uint32_t values(std::uint32_t cell) const {
        return static_cast<std::uint32_t>(values_[cell].size());
    }
    std::uint32_t initial(std::uint32_t cell) const { return initial_[cell]; }
    // Of a cell that matters: its number among these.
    std::uint32_t cell(std::uint32_t original) const { return *cells_[original]; }
    // Nothing if the cell never holds this value.
    std::optional<std::uint32_t> value(std::uint32_t cell, Value v) const;

  private:
    void number_cells(ThreadGraphs const& graphs, std::vector<BadStates> const& bad);
    std::uint32_t number(std::uint32_t cell, Value v);
    NumberedLabel numbered(Label const& label);

    std::vector<std::optional<std::uint32_t>> cells_;     // per cell of the program
    std::vector<std::map<Value, std::uint32_t>> values_;  // per cell that matters
    std::vector<std::uint32_t> initial_;
    std::vector<std::vector<NumberedLabel>> labels_;  // per thread and edge
};

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

    // Whether t stands where it has to for the bad states of this number.
    bool is_there(std::uint32_t t, std::uint32_t node, std::size_t bad) const {
        return there_[t][node].has(bad);
    }
    // Calls `each` with the number of each of the bad states for which all threads can come there from their
    // nodes by reads alone, until it returns true; whether it did.
    template <class Each>
    bool any_near(Nodes nodes, Each each) const {
        for (std::size_t w = 0; w < bad_words_; ++w) {
            for (auto left = common(near_, nodes, w); left != 0; left &= left - 1) {
                if (each(64 * w + static_cast<std::size_t>(std::countr_zero(left)))) return true;
            }
        }
        return false;
    }
    // Whether all threads can come there, for some bad states.
    bool is_hopeful(Nodes nodes) const {
        for (std::size_t w = 0; w < bad_words_; ++w) {
            if (common(can_come_, nodes, w) != 0) return true;
        }
        return false;
    }

  private:
    using PerNode = std::vector<NumberSet>;
    using Rows = std::vector<Word>;  // per node some words

    Word common(std::vector<Rows> const& rows, Nodes nodes, std::size_t w) const {
        Word all = ~Word{0};
        for (std::size_t t = 0; t < nodes.size(); ++t) all &= rows[t][nodes[t] * bad_words_ + w];
        return all;
    }
    Rows rows_of(PerNode const& sets, std::size_t count) const;

    void find_bad_nodes(ThreadGraphs const& graphs, NumberedLabels const& labels,
                        std::vector<BadStates> const& bad);
    void find_accesses(ThreadGraphs const& graphs, NumberedLabels const& labels,
                       std::vector<BadStates> const& bad);

    std::vector<std::size_t> values_from_;  // per cell
    std::vector<bool> asked_;
    std::size_t bad_words_;
    // Per thread. `can_`: per cell whether it reads, modifies, writes, races; then the values it reads.
    std::vector<PerNode> can_, there_;
    std::vector<Rows> near_, can_come_;
};

}  // namespace fencepost
