#include "engine/safety/coverability.hpp"

#include "engine/safety/backward_search.hpp"

namespace fencepost {
namespace {

// The steps of loSRA (sra-2020, Figure 4) backwards.
class SraRules {
  public:
    SraRules(ThreadGraphs const& graphs, Sources const& sources, OptionLists& lists, Possible& possible,
             Prunings const&)
        : graphs_(graphs), sources_(sources), lists_(lists), possible_(possible) {}

    std::uint64_t impossible() const { return impossible_; }

    template <class Then>
    void each_bad(BadStates const& bad, PotentialState& state, Then then) {
        if (!bad.race) return add_memories(bad, state, 0, then);
        auto const [t, x] = *bad.race;
        for (SourceNumber s = 0; s < sources_.size(); ++s) {
            if (sources_[s].cell != x) continue;
            state.potentials[t] = {lists_.number({Option(s, Flag::S)})};
            then(state);
        }
    }

    bool is_possible(PotentialState const& state) { return possible_(state); }

    bool is_initial(Option option) const {
        return sources_[option.source()].writer == sources_.initial_writer() && option.flag() != Flag::S;
    }

    // Whether some option can be taken by this write, or waits for its cell to be overwritten.
    bool is_asked_for(PotentialState const& state, std::uint32_t t, Label const& label) const {
        auto const source = sources_.by(t, label.cell, label.written);
        auto const asks = [&](Option option) {
            return option.source() == source ||
                   (option.flag() == Flag::S && lists_.is_on(option, label.cell));
        };
        return std::ranges::any_of(state.potentials, [&](Potential const& potential) {
            return std::ranges::any_of(potential,
                                       [&](auto list) { return std::ranges::any_of(lists_[list], asks); });
        });
    }

    template <class Then>
    void undo(PotentialState& before, std::uint32_t t, Label const& label, Then then) {
        if (label.kind == LabelKind::read) return read_back(before, t, label, Flag::R, then);
        auto const no_writer = sources_.initial_writer();
        if (label.cell + 1 == graphs_.initial.size()) {
            fence_back(before, t);
            return then(before, no_writer);
        }
        write_back(before, t, label, [&](PotentialState const& written) {
            if (label.kind == LabelKind::write) return then(written, no_writer);
            read_back(written, t, label, Flag::U, then);
        });
    }

  private:
    // The observer holds, in a list each, the last writes to the cells of the final memory.
    template <class Then>
    void add_memories(BadStates const& bad, PotentialState& state, std::size_t n, Then then) {
        if (n == bad.memory.size()) return then(state);
        for (auto s : sources_.of(bad.memory[n].cell, bad.memory[n].value)) {
            state.observer().push_back(lists_.number({Option(s, Flag::U)}));
            add_memories(bad, state, n + 1, then);
            state.observer().pop_back();
        }
    }

    // READ of Figure 4: one more option in front of every list of the thread, by each possible writer.
    template <class Then>
    void read_back(PotentialState const& state, std::uint32_t t, Label const& label, Flag flag, Then then) {
        for (auto s : sources_.of(label.cell, label.read)) {
            Option const option(s, flag);
            if (!possible_.has_source(option, t, state.nodes)) {
                ++impossible_;
                continue;
            }
            auto before = state;
            auto& potential = before.potentials[t];
            for (auto& list : potential) list = lists_.preceded(option, list);
            if (potential.empty()) potential.push_back(lists_.number({option}));
            then(before, sources_[s].writer);
        }
    }

    // After an SC fence the thread and the fences so far know the same: all that either knew. A list is
    // possible after it iff it was possible for both before.
    static void fence_back(PotentialState& state, std::uint32_t t) {
        auto& own = state.potentials[t];
        own.insert(own.end(), state.fences().begin(), state.fences().end());
        state.fences() = own;
    }

    // WRITE of Figure 4. In a list of the writer every option on the cell is from this write. In a list of
    // another thread a suffix of its options on the cell is; what follows the first of these must have
    // been possible for the writer. The others stay, so they do not ask for the last write; one that asked
    // for an overwritten write has it now.
    template <class Then>
    void write_back(PotentialState& state, std::uint32_t t, Label const& label, Then then) {
        auto const source = sources_.by(t, label.cell, label.written);
        std::vector<Choice> choices;
        for (std::uint32_t u = 0; u < state.potentials.size(); ++u) {
            for (std::size_t n = 0; n < state.potentials[u].size(); ++n) {
                auto const list = state.potentials[u][n];
                auto const count = lists_.on_cell(list, label.cell);
                if (count == 0) continue;
                auto const most = lists_.taken_at_most(list, label.cell, source);
                auto const least = u == t ? count : lists_.taken_at_least(list, label.cell);
                if (least > most) return;
                choices.push_back({u, n, list, least, most});
            }
        }
        choose(state, t, label.cell, choices, 0, then);
    }

    // A list with options on the cell, and how many of them this write can be the source of.
    struct Choice {
        std::uint32_t holder;
        std::size_t index;
        ListNumber list;
        std::size_t least, most;
    };

    template <class Then>
    void choose(PotentialState& state, std::uint32_t t, std::uint32_t cell,
                std::vector<Choice> const& choices, std::size_t n, Then then) {
        if (n == choices.size()) return then(state);
        auto const& [holder, index, list, least, most] = choices[n];
        for (auto taken = least; taken <= most; ++taken) {
            state.potentials[holder][index] = lists_.without(list, cell, taken);
            bool const justified = taken > 0 && holder != t;
            if (justified) state.potentials[t].push_back(lists_.justification(list, cell, taken));
            choose(state, t, cell, choices, n + 1, then);
            if (justified) state.potentials[t].pop_back();
        }
    }

    ThreadGraphs const& graphs_;
    Sources const& sources_;
    OptionLists& lists_;
    Possible& possible_;
    std::uint64_t impossible_ = 0;
};

}  // namespace

class Coverability::Search : public BackwardSearch<SraRules> {
    using BackwardSearch::BackwardSearch;
};

Coverability::Coverability(ThreadGraphs const& graphs, std::vector<BadStates> const& bad,
                           Prunings const& prunings)
    : search_(std::make_unique<Search>(graphs, bad, prunings)) {}
Coverability::~Coverability() = default;

Outcome Coverability::run(Limits const& limits, Watcher const& watcher) {
    return go_on(*search_, limits, watcher);
}
BackwardStats Coverability::stats() const {
    return search_->stats();
}
std::vector<RunStep> Coverability::path() const {
    return search_->path();
}
std::vector<std::uint32_t> Coverability::start_nodes() const {
    return search_->start_nodes();
}
std::vector<BasisState> Coverability::basis() const {
    return search_->basis();
}

}  // namespace fencepost
