#include "engine/safety/possible.hpp"

#include <algorithm>

namespace fencepost {
namespace {

constexpr std::size_t most_joint_tuples = std::size_t{1} << 20;

}  // namespace

Possible::Possible(ThreadGraphs const& graphs, Sources const& sources, OptionLists const& lists,
                   Prunings const& prunings)
    : graphs_(graphs), sources_(sources), lists_(lists), prunings_(prunings) {
    if (!prunings.joint) return;
    if (auto joint = joint_tuples(graphs, sources, most_joint_tuples)) joint_.emplace(0, std::move(*joint));
}

bool Possible::can_be_together(Nodes nodes) {
    if (joint_.empty()) return true;
    auto const mask = anywhere_mask(graphs_, nodes);
    auto const [at, is_new] = joint_.try_emplace(mask, JointNodes(graphs_.threads.size()));
    if (is_new) {
        auto const& all = joint_.at(0);
        for (TupleNumber n = 0; n < all.size(); ++n) at->second.add(widened(graphs_, all[n], mask));
    }
    return at->second.find(nodes).has_value();
}

bool Possible::has_source(Option option, std::uint32_t holder, Nodes nodes) const {
    if (!prunings_.sources) return true;
    auto const s = option.source();
    auto const& [writer, cell, value] = sources_[s];
    bool const for_update = option.flag() == Flag::U;
    if (writer != sources_.initial_writer()) {
        bool const must_be_last = for_update || writer == holder;
        return must_be_last ? sources_.last(writer, nodes[writer], s)
                            : sources_.written(writer, nodes[writer], s);
    }
    for (std::uint32_t u = 0; u < graphs_.threads.size(); ++u) {
        bool const knows = for_update || u == holder;
        if (knows && !sources_.never_wrote(u, nodes[u], cell)) return false;
    }
    return true;
}

bool Possible::can_follow(Option a, Option b, Nodes nodes) const {
    auto const& [writer, cell, value] = sources_[a.source()];
    auto const& later = sources_[b.source()];
    auto const initial = sources_.initial_writer();
    if (cell == later.cell) {
        if (later.writer == initial && writer != initial) return false;
        if (a.flag() == Flag::U && a.source() != b.source()) return false;
    }
    if (writer == initial) return true;
    if (later.writer == initial) return sources_.initial_after(writer, nodes[writer], a.source(), later.cell);
    return writer != later.writer || sources_.after(writer, nodes[writer], a.source(), b.source());
}

// A cell has one last write, so all options that ask for it must have the same source.
bool Possible::is_the_last(Option option) {
    if (option.flag() != Flag::U) return true;
    for (auto other : lasts_) {
        if (other == option.source()) return true;
        if (sources_[other].cell == sources_[option.source()].cell) return false;
    }
    lasts_.push_back(option.source());
    return true;
}

bool Possible::operator()(PotentialState const& state) {
    Nodes const nodes(state.nodes);
    lasts_.clear();
    for (std::uint32_t t = 0; t < state.potentials.size(); ++t) {
        for (auto list : state.potentials[t]) {
            auto const options = lists_[list];
            for (std::size_t j = 0; j < options.size(); ++j) {
                if (!has_source(options[j], t, nodes)) return false;
                if (prunings_.sources && !is_the_last(options[j])) return false;
                for (std::size_t i = 0; prunings_.pairs && i < j; ++i) {
                    if (!can_follow(options[i], options[j], nodes)) return false;
                }
            }
        }
    }
    return true;
}

std::uint64_t anywhere_mask(ThreadGraphs const& graphs, Nodes nodes) {
    std::uint64_t mask = 0;
    for (std::uint32_t t = 0; t < graphs.threads.size(); ++t) {
        if (nodes[t] == graphs.threads[t].anywhere()) mask |= std::uint64_t{1} << t;
    }
    return mask;
}

std::vector<std::uint32_t> widened(ThreadGraphs const& graphs, Nodes nodes, std::uint64_t mask) {
    std::vector<std::uint32_t> result(nodes.begin(), nodes.end());
    for (std::uint32_t t = 0; t < graphs.threads.size(); ++t) {
        if ((mask >> t & 1) != 0) result[t] = graphs.threads[t].anywhere();
    }
    return result;
}

}  // namespace fencepost
