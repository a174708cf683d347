#include "engine/safety/relevance.hpp"

namespace fencepost {
namespace {

// Gives each node what those after it have, over the edges that are `followed`.
template <class Followed>
void flow_back(ThreadGraph const& graph, std::vector<NumberSet>& sets, Followed followed) {
    std::vector<std::uint32_t> open(graph.nodes.size());
    for (std::uint32_t n = 0; n < open.size(); ++n) open[n] = n;
    while (!open.empty()) {
        auto const node = open.back();
        open.pop_back();
        for (auto e : graph.in[node]) {
            auto const from = graph.edges[e].from;
            if (followed(e) && sets[from].unite(sets[node])) open.push_back(from);
        }
    }
}

}  // namespace

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

SraNeeds::SraNeeds(ThreadGraphs const& graphs, NumberedLabels const& labels,
                   std::vector<BadStates> const& bad)
    : asked_(labels.cells(), false), bad_words_((bad.size() + 63) / 64) {
    for (auto const& states : bad) {
        for (auto const& asked : states.memory) asked_[labels.cell(asked.cell)] = true;
    }
    find_bad_nodes(graphs, labels, bad);
    find_accesses(graphs, labels, bad);
}

void SraNeeds::find_bad_nodes(ThreadGraphs const& graphs, NumberedLabels const& labels,
                              std::vector<BadStates> const& bad) {
    for (std::uint32_t t = 0; t < graphs.threads.size(); ++t) {
        auto const& graph = graphs.threads[t];
        auto& there = there_.emplace_back(graph.nodes.size(), NumberSet(bad.size()));
        for (std::size_t n = 0; n < bad.size(); ++n) {
            for (auto node : bad[n].nodes[t]) there[node].add(n);
            if (!bad[n].nodes[t].empty()) continue;
            for (auto& set : there) set.add(n);
        }
        auto near = there, can_come = there;
        flow_back(graph, near, [&](auto e) { return !labels(t, e).writes(); });
        flow_back(graph, can_come, [](auto) { return true; });
        near_.push_back(rows_of(near, bad.size()));
        can_come_.push_back(rows_of(can_come, bad.size()));
    }
}

SraNeeds::Rows SraNeeds::rows_of(PerNode const& sets, std::size_t count) const {
    Rows rows(sets.size() * bad_words_, 0);
    for (std::size_t node = 0; node < sets.size(); ++node) {
        for (std::size_t n = 0; n < count; ++n) {
            if (sets[node].has(n)) rows[node * bad_words_ + n / 64] |= Word{1} << (n % 64);
        }
    }
    return rows;
}

void SraNeeds::find_accesses(ThreadGraphs const& graphs, NumberedLabels const& labels,
                             std::vector<BadStates> const& bad) {
    std::size_t size = 4 * labels.cells();
    for (std::uint32_t x = 0; x < labels.cells(); ++x) {
        values_from_.push_back(size);
        size += labels.values(x);
    }
    for (std::uint32_t t = 0; t < graphs.threads.size(); ++t) {
        auto const& graph = graphs.threads[t];
        auto& can = can_.emplace_back(graph.nodes.size(), NumberSet(size));
        for (std::uint32_t e = 0; e < graph.edges.size(); ++e) {
            auto const& label = labels(t, e);
            auto& set = can[graph.edges[e].from];
            if (label.kind == LabelKind::read) {
                set.add(4 * label.cell);
                set.add(values_from_[label.cell] + label.read);
            }
            if (label.kind == LabelKind::read_modify_write) set.add(4 * label.cell + 1);
            if (label.writes()) set.add(4 * label.cell + 2);
        }
        for (std::size_t n = 0; n < bad.size(); ++n) {
            if (!bad[n].race || bad[n].race->thread != t) continue;
            for (std::uint32_t node = 0; node < can.size(); ++node) {
                if (is_there(t, node, n)) can[node].add(4 * labels.cell(bad[n].race->cell) + 3);
            }
        }
        flow_back(graph, can, [](auto) { return true; });
    }
}

}  // namespace fencepost
