// The search from bad states back to the start, for every memory model whose steps can be undone on
// potentials. What is common to them: the states that are kept, the order in which steps are undone, and the
// run that is found. What a step does to potentials is said by the `Rules` of a model:
//
//   each_bad       each way to fill the potentials for some bad states
//   undo           each minimal state before a step, and the writer of what it read; the thread already
//                  stands before the step
//   is_possible    whether a run can have this state, as far as is known
//   is_asked_for   whether a write by a thread that stands anywhere matters
//   is_initial     whether an option stands for the initial memory
//
// Runs are followed in blocks: some reads and then a write, RMW or fence of one thread. Reads only change
// what their thread sees, so each can be put off to right before the next write of its thread. The last reads
// of each thread come last in a run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/safety/basis.hpp"
#include "engine/safety/coverability.hpp"

namespace fencepost {

template <class Rules>
class BackwardSearch {
  public:
    BackwardSearch(ThreadGraphs const& graphs, std::vector<BadStates> const& bad, Prunings const& prunings)
        : graphs_(graphs),
          threads_(static_cast<std::uint32_t>(graphs.threads.size())),
          sources_(graphs),
          lists_(sources_),
          possible_(graphs, sources_, lists_, prunings),
          rules_(graphs, sources_, lists_, possible_, prunings),
          basis_(graphs, lists_, prunings.subsumption) {
        for (auto const& graph : graphs.threads) ends_.push_back(ends_of(graph));
        for (auto const& states : bad) {
            auto blank = PotentialState{std::vector<std::uint32_t>(threads_ + 1),
                                        std::vector<Potential>(threads_ + 2)};
            rules_.each_bad(states, blank, [&](PotentialState& state) { add_products(states, state, 0); });
        }
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
        result.impossible += rules_.impossible();
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
        if (!together || !rules_.is_possible(state)) {
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
        return std::ranges::all_of(state.potentials, [&](Potential const& potential) {
            return std::ranges::all_of(potential, [&](auto list) {
                return std::ranges::all_of(lists_[list],
                                           [&](Option option) { return rules_.is_initial(option); });
            });
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
            if (label.writes() && rules_.is_asked_for(state, t, label)) undo(item, state, t, e);
        }
    }

    void undo(ItemNumber item, PotentialState const& state, std::uint32_t t, std::uint32_t e) {
        if (found()) return;
        auto const& edge = graphs_.threads[t].edges[e];
        auto before = state;
        before.nodes[t] = edge.from;
        if (state.phase() == free()) before.set_phase(in_block(t));
        auto const then = [&](PotentialState const& earlier, std::uint32_t writer) {
            arrive(earlier, {item, t, e, writer});
        };
        if (edge.label.kind == LabelKind::silent) return then(before, sources_.initial_writer());
        rules_.undo(before, t, edge.label, then);
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
    Rules rules_;
    Basis basis_;
    std::vector<std::vector<Ends>> ends_;  // per thread and node
    ItemNumber initial_ = no_item;
    BackwardStats stats_;
};

}  // namespace fencepost
