// The labels of the graphs for forward searches: only the cells that matter, numbered anew, and the values of
// each cell numbered from 0. A cell matters if some thread reads it or the bad states ask about it; a write
// to another one is silent.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "engine/safety/safety.hpp"
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

}  // namespace fencepost
