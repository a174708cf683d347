#include "engine/safety/joint_nodes.hpp"

#include <algorithm>

namespace fencepost {
namespace {

class Joint {
  public:
    Joint(ThreadGraphs const& graphs, Sources const& sources, std::size_t most)
        : graphs_(graphs), sources_(sources), most_(most), met_(graphs.threads.size()) {}

    std::optional<JointNodes> run() {
        std::vector<std::uint32_t> first(graphs_.threads.size());
        if (!start(0, first)) return std::nullopt;
        for (TupleNumber n = 0; n < met_.size(); ++n) {
            std::vector<std::uint32_t> const at(met_[n].begin(), met_[n].end());
            for (std::uint32_t t = 0; t < at.size(); ++t) {
                if (!run_block(at, t)) return std::nullopt;
            }
        }
        return std::move(met_);
    }

  private:
    bool start(std::size_t t, std::vector<std::uint32_t>& tuple) {
        if (t == tuple.size()) {
            met_.add(tuple);
            return met_.size() <= most_;
        }
        for (auto node : graphs_.threads[t].initial) {
            tuple[t] = node;
            if (!start(t + 1, tuple)) return false;
        }
        return true;
    }

    // Lets t read on and then write, in every way.
    bool run_block(std::vector<std::uint32_t> at, std::uint32_t t) {
        auto const& graph = graphs_.threads[t];
        std::vector<std::uint32_t> open{at[t]};
        for (std::size_t n = 0; n < open.size(); ++n) {
            at[t] = open[n];
            for (auto e : graph.out[open[n]]) {
                auto const& edge = graph.edges[e];
                if (!enabled(at, t, edge.label)) continue;
                if (edge.label.writes()) {
                    auto next = at;
                    next[t] = edge.to;
                    met_.add(next);
                } else if (std::find(open.begin(), open.end(), edge.to) == open.end()) {
                    open.push_back(edge.to);
                }
            }
        }
        return met_.size() <= most_;
    }

    bool enabled(std::vector<std::uint32_t> const& at, std::uint32_t t, Label const& label) const {
        if (!label.reads()) return true;
        bool const modifies = label.writes();
        auto const& from = sources_.of(label.cell, label.read);
        return std::any_of(from.begin(), from.end(), [&](SourceNumber s) {
            auto const w = sources_[s].writer;
            if (w == sources_.initial_writer()) return initial_is_there(at, t, label.cell, modifies);
            bool const must_be_last = modifies || w == t;
            return must_be_last ? sources_.last(w, at[w], s) : sources_.written(w, at[w], s);
        });
    }

    // Whether t can read, or modify, the initial value: t, and for an RMW every thread, may not have written
    // the cell.
    bool initial_is_there(std::vector<std::uint32_t> const& at, std::uint32_t t, std::uint32_t cell,
                          bool modifies) const {
        if (!modifies) return sources_.never_wrote(t, at[t], cell);
        for (std::uint32_t u = 0; u < at.size(); ++u) {
            if (!sources_.never_wrote(u, at[u], cell)) return false;
        }
        return true;
    }

    ThreadGraphs const& graphs_;
    Sources const& sources_;
    std::size_t most_;
    JointNodes met_;
};

}  // namespace

std::size_t JointNodes::slot_of(Nodes tuple) const {
    std::uint64_t h = 0x9e3779b97f4a7c15u;
    for (auto node : tuple) {
        h = (h ^ node) * 0xd6e8feb86659fd93u;
        h ^= h >> 29;
    }
    auto const mask = slots_.size() - 1;
    auto slot = h & mask;
    while (slots_[slot] != 0 && !std::ranges::equal((*this)[slots_[slot] - 1], tuple))
        slot = (slot + 1) & mask;
    return slot;
}

std::pair<TupleNumber, bool> JointNodes::add(Nodes tuple) {
    if (count_ * 2 >= slots_.size()) grow();
    auto const slot = slot_of(tuple);
    if (slots_[slot] != 0) return {slots_[slot] - 1, false};
    nodes_.insert(nodes_.end(), tuple.begin(), tuple.end());
    slots_[slot] = static_cast<std::uint32_t>(++count_);
    return {slots_[slot] - 1, true};
}

std::optional<TupleNumber> JointNodes::find(Nodes tuple) const {
    if (slots_.empty()) return std::nullopt;
    auto const slot = slot_of(tuple);
    if (slots_[slot] == 0) return std::nullopt;
    return slots_[slot] - 1;
}

void JointNodes::grow() {
    slots_.assign(std::max<std::size_t>(slots_.size() * 2, 1024), 0u);
    for (std::uint32_t n = 0; n < count_; ++n) slots_[slot_of((*this)[n])] = n + 1;
}

std::optional<JointNodes> joint_tuples(ThreadGraphs const& graphs, Sources const& sources, std::size_t most) {
    return Joint(graphs, sources, most).run();
}

}  // namespace fencepost
