#include "engine/safety/numbered_labels.hpp"

namespace fencepost {

NumberedLabels::NumberedLabels(ThreadGraphs const& graphs, std::vector<BadStates> const& bad)
    : cells_(graphs.initial.size()), labels_(graphs.threads.size()) {
    number_cells(graphs, bad);
    for (std::size_t t = 0; t < graphs.threads.size(); ++t) {
        for (auto const& edge : graphs.threads[t].edges) labels_[t].push_back(numbered(edge.label));
    }
}

void NumberedLabels::number_cells(ThreadGraphs const& graphs, std::vector<BadStates> const& bad) {
    std::vector<bool> matters(graphs.initial.size(), false);
    for (auto const& graph : graphs.threads) {
        for (auto const& edge : graph.edges) {
            if (edge.label.reads()) matters[edge.label.cell] = true;
        }
    }
    for (auto const& states : bad) {
        for (auto const& asked : states.memory) matters[asked.cell] = true;
        if (states.race) matters[states.race->cell] = true;
    }
    for (std::uint32_t x = 0; x < matters.size(); ++x) {
        if (!matters[x]) continue;
        cells_[x] = cells();
        values_.emplace_back();
        initial_.push_back(number(*cells_[x], graphs.initial[x]));
    }
}

std::uint32_t NumberedLabels::number(std::uint32_t cell, Value v) {
    return values_[cell].emplace(v, values(cell)).first->second;
}

NumberedLabel NumberedLabels::numbered(Label const& label) {
    if (label.kind == LabelKind::silent || !cells_[label.cell]) return {};
    auto const x = *cells_[label.cell];
    return {label.kind, x, label.reads() ? number(x, label.read) : 0,
            label.writes() ? number(x, label.written) : 0};
}

std::optional<std::uint32_t> NumberedLabels::value(std::uint32_t cell, Value v) const {
    auto const known = values_[cell].find(v);
    if (known == values_[cell].end()) return std::nullopt;
    return known->second;
}

}  // namespace fencepost
