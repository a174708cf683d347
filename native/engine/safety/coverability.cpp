#include "engine/safety/coverability.hpp"

#include "engine/safety/basis.hpp"

namespace fencepost {

class Coverability::Search {
  public:
    Search(ThreadGraphs const& graphs, std::vector<BadStates> const& bad, Prunings const& prunings)
        : graphs_(graphs),
          threads_(static_cast<std::uint32_t>(graphs.threads.size())),
          sources_(graphs),
          lists_(sources_),
          possible_(graphs, sources_, lists_, prunings),
          basis_(graphs, lists_, prunings.subsumption) {
        for (auto const& graph : graphs.threads) ends_.push_back(ends_of(graph));
        for (auto const& states : bad) add_bad(states);
    }

    bool found() const { return initial_ != no_item; }

    // Goes back from one more state; false if none waits.
    bool expand_next() {
        auto const item = basis_.next();
        if (item == no_item) return false;
        auto const state = basis_.load(item);
        if (state.phase() != free()) {
            undo_reads(item, state, thread_of(state.phase()));
            return true;
        }
        for (std::uint32_t t = 0; t < threads_; ++t) undo_writes(item, state, t);
        return true;
    }

    BackwardStats stats() const {
        auto result = stats_;
        result.states = basis_.met();
        result.basis = basis_.kept();
        result.waiting = basis_.waiting();
        result.longest = basis_.longest();
        result.bytes = basis_.bytes() + lists_.bytes();
        return result;
    }

    std::vector<RunStep> path() const {
        std::vector<RunStep> steps;
        if (!found()) return steps;
        for (auto n = initial_; basis_.step(n).after != no_item; n = basis_.step(n).after) {
            auto const& [after, thread, e, writer] = basis_.step(n);
            auto const& edge = graphs_.threads[thread].edges[e];
            steps.push_back({thread, edge.pc, edge.label, edge.to, writer});
        }
        return steps;
    }

    std::vector<std::uint32_t> start_nodes() const {
        if (!found()) return {};
        auto nodes = basis_.load(initial_).nodes;
        nodes.pop_back();
        return nodes;
    }

    std::vector<BasisState> basis() {
        std::vector<BasisState> result;
        for (auto item : basis_.minimal()) result.push_back(decoded(basis_.load(item)));
        return result;
    }

  private:
    // The bad states.

    PotentialState blank() const {
        return {std::vector<std::uint32_t>(threads_ + 1), std::vector<Potential>(threads_ + 2)};
    }

    void add_bad(BadStates const& bad) {
        auto state = blank();
        if (!bad.race) return add_memories(bad, state, 0);
        auto const [t, x] = *bad.race;
        for (SourceNumber s = 0; s < sources_.size(); ++s) {
            if (sources_[s].cell != x) continue;
            state.potentials[t] = {lists_.number({Option(s, Flag::S)})};
            add_products(bad, state, 0);
        }
    }

    // The observer holds, in a list each, the last writes to the cells of the final memory.
    void add_memories(BadStates const& bad, PotentialState& state, std::size_t n) {
        if (n == bad.memory.size()) return add_products(bad, state, 0);
        for (auto s : sources_.of(bad.memory[n].cell, bad.memory[n].value)) {
            state.observer().push_back(lists_.number({Option(s, Flag::U)}));
            add_memories(bad, state, n + 1);
            state.observer().pop_back();
        }
    }

    void add_products(BadStates const& bad, PotentialState& state, std::uint32_t t) {
        if (t == threads_) {
            state.set_phase(0);
            return arrive(state, {});
        }
        if (bad.nodes[t].empty()) {
            state.nodes[t] = graphs_.threads[t].anywhere();
            return add_products(bad, state, t + 1);
        }
        for (auto node : bad.nodes[t]) {
            state.nodes[t] = node;
            add_products(bad, state, t + 1);
        }
    }

    // Phases: t, the last reads of thread t; free; in a block of t.

    std::uint32_t free() const { return threads_; }
    std::uint32_t in_block(std::uint32_t t) const { return threads_ + 1 + t; }
    std::uint32_t thread_of(std::uint32_t phase) const { return phase < free() ? phase : phase - free() - 1; }

    // What can lead to a node: reads and silent steps; a write, or nothing at the start, where a block ends.
    struct Ends {
        bool read = false, write = false;
    };
    static std::vector<Ends> ends_of(ThreadGraph const& graph) {
        std::vector<Ends> ends(graph.nodes.size() + 1);
        for (auto const& edge : graph.edges)
            (edge.label.writes() ? ends[edge.to].write : ends[edge.to].read) = true;
        for (auto node : graph.initial) ends[node].write = true;
        ends[graph.anywhere()].write = true;
        return ends;
    }

    // Adds the state in its phase, if something can be undone there, and in the phases that follow at once.
    void arrive(PotentialState const& state, BackStep const& step) {
        auto const phase = state.phase();
        if (phase == free()) return add(state, step);
        auto const t = thread_of(phase);
        auto const [read, write] = ends_[t][state.nodes[t]];
        if (read) add(state, step);
        if (!write) return;
        auto next = state;
        next.set_phase(phase < free() ? phase + 1 : free());
        arrive(next, step);
    }

    void add(PotentialState state, BackStep const& step) {
        ++stats_.transitions;
        for (auto& potential : state.potentials) keep_longest(potential, lists_);
        bool const together =
            state.phase() != free() || possible_.can_be_together(Nodes(state.nodes).first(threads_));
        if (!together || !possible_(state)) {
            ++stats_.impossible;
        } else if (basis_.covers(state)) {
            ++stats_.covered;
        } else {
            auto const item = basis_.keep(state, step);
            if (is_initial(state)) initial_ = item;
        }
    }

    bool is_initial(PotentialState const& state) const {
        if (state.phase() != free()) return false;
        for (std::uint32_t t = 0; t < threads_; ++t) {
            auto const& graph = graphs_.threads[t];
            bool const starts = std::ranges::count(graph.initial, state.nodes[t]) != 0;
            if (!starts && state.nodes[t] != graph.anywhere()) return false;
        }
        auto const is_there = [&](Option option) {
            return sources_[option.source()].writer == sources_.initial_writer() && option.flag() != Flag::S;
        };
        return std::ranges::all_of(state.potentials, [&](Potential const& potential) {
            return std::ranges::all_of(
                potential, [&](auto list) { return std::ranges::all_of(lists_[list], is_there); });
        });
    }

    // One step back.

    void undo_reads(ItemNumber item, PotentialState const& state, std::uint32_t t) {
        auto const& graph = graphs_.threads[t];
        for (auto e : graph.in[state.nodes[t]]) {
            if (!graph.edges[e].label.writes()) undo(item, state, t, e);
        }
    }

    void undo_writes(ItemNumber item, PotentialState const& state, std::uint32_t t) {
        auto const& graph = graphs_.threads[t];
        if (state.nodes[t] != graph.anywhere()) {
            for (auto e : graph.in[state.nodes[t]]) {
                if (graph.edges[e].label.writes()) undo(item, state, t, e);
            }
            return;
        }
        for (std::uint32_t e = 0; e < graph.edges.size(); ++e) {
            auto const& label = graph.edges[e].label;
            if (label.writes() && is_asked_for(state, sources_.by(t, label.cell, label.written)))
                undo(item, state, t, e);
        }
    }

    // Whether some option can be taken by this write, or waits for its cell to be overwritten.
    bool is_asked_for(PotentialState const& state, SourceNumber source) const {
        auto const asks = [&](Option option) {
            return option.source() == source ||
                   (option.flag() == Flag::S && lists_.is_on(option, sources_[source].cell));
        };
        return std::ranges::any_of(state.potentials, [&](Potential const& potential) {
            return std::ranges::any_of(potential,
                                       [&](auto list) { return std::ranges::any_of(lists_[list], asks); });
        });
    }

    void undo(ItemNumber item, PotentialState const& state, std::uint32_t t, std::uint32_t e) {
        if (found()) return;
        auto const& [from, to, pc, label] = graphs_.threads[t].edges[e];
        auto before = state;
        before.nodes[t] = from;
        if (state.phase() == free()) before.set_phase(in_block(t));
        BackStep const step{item, t, e, sources_.initial_writer()};
        if (label.kind == LabelKind::silent) return arrive(before, step);
        if (label.kind == LabelKind::read) return read_back(before, step, label, Flag::R);
        if (label.cell + 1 == graphs_.initial.size()) return fence_back(before, step);
        write_back(before, t, label, [&](PotentialState const& written) {
            if (label.kind == LabelKind::write) return arrive(written, step);
            read_back(written, step, label, Flag::U);
        });
    }

    // READ of Figure 4: one more option in front of every list of the thread, by each possible writer.
    void read_back(PotentialState const& state, BackStep step, Label const& label, Flag flag) {
        for (auto s : sources_.of(label.cell, label.read)) {
            Option const option(s, flag);
            if (!possible_.has_source(option, step.thread, state.nodes)) {
                ++stats_.impossible;
                continue;
            }
            auto before = state;
            auto& potential = before.potentials[step.thread];
            for (auto& list : potential) list = lists_.preceded(option, list);
            if (potential.empty()) potential.push_back(lists_.number({option}));
            step.writer = sources_[s].writer;
            arrive(before, step);
        }
    }

    // After an SC fence the thread and the fences so far know the same: all that either knew. A list is
    // possible after it iff it was possible for both before.
    void fence_back(PotentialState& state, BackStep const& step) {
        auto& own = state.potentials[step.thread];
        own.insert(own.end(), state.fences().begin(), state.fences().end());
        state.fences() = own;
        arrive(state, step);
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

    BasisState decoded(PotentialState const& state) const {
        BasisState result{{state.nodes.begin(), state.nodes.end() - 1}, state.phase(), {}};
        for (auto const& potential : state.potentials) {
            auto& lists = result.potentials.emplace_back();
            for (auto list : potential) {
                auto& options = lists.emplace_back();
                for (auto option : lists_[list])
                    options.emplace_back(sources_[option.source()], option.flag());
            }
        }
        return result;
    }

    ThreadGraphs const& graphs_;
    std::uint32_t threads_;
    Sources sources_;
    OptionLists lists_;
    Possible possible_;
    Basis basis_;
    std::vector<std::vector<Ends>> ends_;  // per thread and node
    ItemNumber initial_ = no_item;
    BackwardStats stats_;
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
