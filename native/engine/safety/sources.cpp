#include "engine/safety/sources.hpp"

#include <deque>

namespace fencepost {
namespace {

// Above this, `after` would take more memory than it is worth: then every pair counts as possible.
constexpr std::size_t most_words_of_pairs = std::size_t{1} << 26;

}  // namespace

Sources::Sources(ThreadGraphs const& graphs) : graphs_(graphs) {
    number_sources();
    facts_.resize(graphs.threads.size());
    for (std::uint32_t t = 0; t < graphs.threads.size(); ++t) find_facts(t);
}

std::vector<SourceNumber> const& Sources::of(std::uint32_t cell, Value v) const {
    auto const at = by_value_.find({cell, v});
    return at == by_value_.end() ? none_ : at->second;
}

void Sources::number_sources() {
    auto const add = [this](Source const& source) {
        auto const number = static_cast<SourceNumber>(all_.size());
        if (!numbers_.emplace(std::pair(source.writer, std::pair(source.cell, source.value)), number).second)
            return false;
        all_.push_back(source);
        by_value_[{source.cell, source.value}].push_back(number);
        return true;
    };
    for (std::uint32_t x = 0; x < graphs_.initial.size(); ++x) {
        add({initial_writer(), x, graphs_.initial[x]});
        index_.push_back(x);
    }
    for (std::uint32_t t = 0; t < graphs_.threads.size(); ++t) {
        std::uint32_t count = 0;
        auto& cells = of_cell_.emplace_back(graphs_.initial.size());
        for (auto const& edge : graphs_.threads[t].edges) {
            auto const x = edge.label.cell;
            if (!edge.label.writes() || !add({t, x, edge.label.written})) continue;
            cells[x].push_back(count);
            index_.push_back(count++);
        }
        counts_.push_back(count);
    }
}

void Sources::find_facts(std::uint32_t thread) {
    auto const& graph = graphs_.threads[thread];
    auto const count = counts_[thread], cells = graphs_.initial.size();
    auto const row = NumberSet(count + cells).words();
    paired_.push_back(graph.nodes.size() * count * row <= most_words_of_pairs);
    auto const rows = paired_.back() ? count : 0;
    facts_[thread].assign(graph.nodes.size() + 1, {NumberSet(count), NumberSet(count + cells),
                                                   std::vector<NumberSet>(rows, NumberSet(count + cells))});
    std::deque<std::uint32_t> open;
    std::vector<bool> waits(graph.nodes.size(), false);
    for (auto node : graph.initial) {
        for (std::size_t x = 0; x < cells; ++x) facts_[thread][node].last.add(count + x);
        open.push_back(node);
        waits[node] = true;
    }
    std::vector<bool> met(waits);
    while (!open.empty()) {
        auto const node = open.front();
        open.pop_front();
        waits[node] = false;
        for (auto e : graph.out[node]) {
            auto const& edge = graph.edges[e];
            if (!flow(thread, edge) && met[edge.to]) continue;
            met[edge.to] = true;
            if (waits[edge.to]) continue;
            waits[edge.to] = true;
            open.push_back(edge.to);
        }
    }
    auto& anywhere = facts_[thread][graph.anywhere()];
    for (std::size_t node = 0; node < graph.nodes.size(); ++node) unite(anywhere, facts_[thread][node]);
}

bool Sources::unite(Facts& facts, Facts const& more) {
    bool changed = facts.written.unite(more.written);
    changed = facts.last.unite(more.last) || changed;
    for (std::size_t a = 0; a < facts.after.size(); ++a)
        changed = facts.after[a].unite(more.after[a]) || changed;
    return changed;
}

// Carries the facts before the edge to the node behind it; whether any of them was new there.
bool Sources::flow(std::uint32_t thread, LocalEdge const& edge) {
    Facts now = facts_[thread][edge.from];
    if (edge.label.writes()) {
        auto const x = edge.label.cell;
        auto const a = index_[by(thread, x, edge.label.written)];
        for (auto other : of_cell_[thread][x]) now.last.remove(other);
        now.last.remove(counts_[thread] + x);
        now.last.add(a);
        if (paired_[thread]) {
            now.after[a].unite(now.last);
            for (std::size_t b = 0; b < counts_[thread]; ++b) {
                if (now.written.has(b)) now.after[b].add(a);
            }
        }
        now.written.add(a);
    }
    return unite(facts_[thread][edge.to], now);
}

}  // namespace fencepost
