#include "engine/graphs/enumeration.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <utility>

#include "engine/graphs/event_maker.hpp"
#include "engine/graphs/told_graph.hpp"

namespace fencepost {
namespace {

using Kind = GraphEvent::Kind;

struct Stop {
    Outcome why;
};

// Enumerates, and records how it ended.
template <class Action>
void record(Enumeration& result, Action enumerate) {
    try {
        enumerate();
    } catch (Stop const& stop) {
        result.outcome = stop.why;
    } catch (EndlessLocalRun const& e) {
        result.outcome = Outcome::endless_local_run;
        result.endless_thread = e.thread;
        result.endless_pc = e.pc;
        result.endless_choices = e.choices;
    } catch (ValueOutOfRange const& e) {
        result.outcome = Outcome::value_limit;
        result.endless_thread = e.thread;
        result.endless_pc = e.pc;
    } catch (std::bad_alloc const&) {
        result.outcome = Outcome::memory_limit;
    }
}

class Enumerator {
  public:
    Enumerator(Program const& program, GraphModel model, Observed const& observed,
               EnumerationOptions const& options, Watcher const& watcher, EndWatcher const& on_end)
        : program_(program),
          model_(model),
          observed_(observed),
          options_(options),
          watcher_(watcher),
          on_end_(on_end),
          steps_(program),
          maker_(steps_, model) {}

    Enumeration run() {
        record(result_, [&] {
            for (std::uint32_t t = 0; t < program_.threads.size(); ++t) {
                if (steps_.start(t).failure) fail(*steps_.start(t).failure, empty());
            }
            auto graph = empty();
            visit(graph);
        });
        result_.seconds = seconds();
        for (auto& [values, end] : ends_) result_.ends.push_back(std::move(end));
        return std::move(result_);
    }

  private:
    ExecutionGraph empty() const { return {program_.threads.size(), program_.cells.size()}; }

    // Visit.

    void visit(ExecutionGraph& graph) {
        count();
        auto const t = next_thread(graph);
        if (!t) return leaf(graph);
        auto const last = graph.last(*t);
        if (last != nothing && graph[last].awaits_its_write()) return write_of_rmw(graph, last);
        auto const* const choice = pending_choice(graph, *t);
        if (choice != nullptr) return choose(graph, *t, *choice);
        access(graph, *t);
    }

    // An RMW is completed first; else threads take their turn in order.
    std::optional<std::uint32_t> next_thread(ExecutionGraph const& graph) {
        std::optional<std::uint32_t> found;
        for (std::uint32_t t = 0; t < program_.threads.size(); ++t) {
            auto const last = graph.last(t);
            if (last != nothing && graph[last].awaits_its_write()) return t;
            if (!found && can_go_on(graph, t)) found = t;
        }
        return found;
    }

    bool can_go_on(ExecutionGraph const& graph, std::uint32_t t) {
        if (pending_choice(graph, t) != nullptr) return true;
        auto const last = graph.last(t);
        if (last != nothing && (graph[last].blocked || repeats(graph, last))) return false;
        auto const node = node_after(graph, t);
        if (steps_.access(t, node) == nullptr) return false;
        if (graph.is_full() || times_done(graph, t, steps_.access(t, node)->pc) >= options_.unroll) {
            result_.truncated = true;
            return false;
        }
        return true;
    }

    NodeId node_after(ExecutionGraph const& graph, std::uint32_t t) const {
        auto const last = graph.last(t);
        return last == nothing ? steps_.start(t).successors.front() : graph[last].after;
    }

    // Whether the thread was there before, and has only read since.
    bool repeats(ExecutionGraph const& graph, EventId last) const {
        auto const t = graph[last].thread;
        auto const here = graph[last].after;
        for (auto e = last; e != nothing && !graph[e].writes(); e = graph[e].previous) {
            auto const p = graph[e].previous;
            auto const before = p == nothing ? start_of(t) : graph[p].after;
            if (before == here) return true;
        }
        return false;
    }
    NodeId start_of(std::uint32_t t) const {
        auto const& start = steps_.start(t);
        return start.successors.size() == 1 ? start.successors.front() : undecided;
    }

    std::uint32_t times_done(ExecutionGraph const& graph, std::uint32_t t, std::uint32_t pc) const {
        std::uint32_t times = 0;
        for (auto e = graph.last(t); e != nothing; e = graph[e].previous) {
            bool const first_part = graph[e].kind != Kind::choice && !(graph[e].rmw && graph[e].writes());
            if (first_part && graph[e].pc == pc) ++times;
        }
        return times;
    }

    // The step that the thread has done without having chosen where it leads.
    ThreadSteps::Step const* pending_choice(ExecutionGraph const& graph, std::uint32_t t) const {
        auto const last = graph.last(t);
        if (last == nothing) return steps_.start(t).successors.size() > 1 ? &steps_.start(t) : nullptr;
        auto const& event = graph[last];
        return event.after == undecided && !event.blocked && !event.awaits_its_write() ? event.step : nullptr;
    }

    void choose(ExecutionGraph& graph, std::uint32_t t, ThreadSteps::Step const& step) {
        for (std::uint32_t n = 0; n < step.successors.size(); ++n) {
            auto const e = graph.add(maker_.choice(t, step, n));
            visit(graph);
            graph.remove(e);
        }
    }

    void access(ExecutionGraph& graph, std::uint32_t t) {
        auto const node = node_after(graph, t);
        auto const& next = *steps_.access(t, node);
        if (maker_.is_event_alone(next)) {
            auto const e = graph.add(maker_.fence(t, node));
            visit_with(graph, e);
            graph.remove(e);
        } else if (next.instruction->op == Op::store) {
            place(graph, maker_.store(t, node));
        } else {
            read(graph, t, node, next);
        }
    }

    // A read from each write, the newest first.
    void read(ExecutionGraph& graph, std::uint32_t t, NodeId node, Access const& next) {
        auto w = graph.cell(next.cell).newest;
        if (w == nothing) w = initial;
        for (;; w = graph[w].older) {
            auto const e = graph.add(maker_.read(t, node, w, value_of(graph, next.cell, w)));
            if (stays_consistent(model_, graph, e)) visit_with(graph, e);
            graph.remove(e);
            if (w == initial) return;
        }
    }

    Value value_of(ExecutionGraph const& graph, std::uint32_t cell, EventId w) const {
        return w == initial ? program_.cells[cell].initial : graph[w].value;
    }

    void place(ExecutionGraph& graph, GraphEvent const& store) {
        auto const e = graph.add(store);
        for_each_place(graph, e, [&] { visit_with(graph, e); });
        revisit_all(graph, e);
        graph.remove(e);
    }

    void write_of_rmw(ExecutionGraph& graph, EventId read) {
        auto const e = graph.add(maker_.write_of(graph[read]));
        for_each_place(graph, e, [&] { visit_with(graph, e); });
        revisit_all(graph, e);
        graph.remove(e);
    }

    // VisitCOs: the consistent places of the write in mo.
    void for_each_place(ExecutionGraph& graph, EventId e, auto const& go_on) {
        auto const cell = graph[e].cell;
        auto const place_after = [&](EventId w) {
            graph.insert(e, w);
            if (stays_consistent(model_, graph, e)) go_on();
            graph.take_out(e);
        };
        if (graph[e].rmw) return place_after(graph[graph[e].previous].source);
        auto w = graph.cell(cell).newest == nothing ? initial : graph.cell(cell).newest;
        while (w != initial) {
            auto const older = graph[w].older;
            place_after(w);
            w = older;
        }
        place_after(initial);
    }

    // Goes on with event e, which is new: what it does beside being there.
    void visit_with(ExecutionGraph& graph, EventId e) {
        auto const& event = graph[e];
        if (event.step != nullptr && event.step->failure && !event.awaits_its_write())
            fail(*event.step->failure, graph);
        if (options_.find_races && !event.atomic && model_ != GraphModel::tso && model_ != GraphModel::sc) {
            if (auto const other = race_with(graph, e)) race(graph, *other, e);
        }
        visit(graph);
    }

    // Revisits.

    void revisit_all(ExecutionGraph& graph, EventId write) {
        auto const cell = graph[write].cell;
        EventSet reads;
        for (EventId w = initial; w != nothing; w = graph.newer(cell, w)) reads |= graph.readers(cell, w);
        reads.without(graph[write].porf).for_each([&](EventId r) { revisit(graph, write, r); });
    }

    void revisit(ExecutionGraph const& graph, EventId write, EventId read) {
        auto const& needed = graph[write].porf;
        EventSet gone;
        gone.add(read);
        graph.all().without(needed).for_each([&](EventId e) {
            if (graph[e].stamp > graph[read].stamp) gone.add(e);
        });
        bool maximal = true;
        gone.for_each([&](EventId e) { maximal = maximal && is_maximal(graph, e, needed); });
        if (!maximal) return;
        auto& smaller = pooled(graph);
        auto const old = graph[read];
        smaller.remove_all(gone);
        for_each_place(smaller, write, [&] { visit_with_read(smaller, write, read, old); });
        --depth_;
    }

    void visit_with_read(ExecutionGraph& graph, EventId write, EventId read, GraphEvent const& old) {
        graph.put_back(read, maker_.read_again(old, write, graph[write].value));
        if (stays_consistent(model_, graph, read)) {
            check(graph, write);
            visit_with(graph, read);
        }
        graph.remove(read);
    }

    // What `visit_with` would have said about the write.
    void check(ExecutionGraph& graph, EventId e) {
        if (graph[e].step->failure) fail(*graph[e].step->failure, graph);
    }

    // Whether e was added as `visit` does first, given what was there then and what the write needs.
    bool is_maximal(ExecutionGraph const& graph, EventId e, EventSet const& needed) const {
        auto const& event = graph[e];
        auto const was_there = [&](EventId other) {
            return needed.has(other) || graph[other].stamp <= event.stamp;
        };
        if (event.kind == Kind::choice) return event.choice == 0;
        if (event.kind == Kind::fence) return true;
        bool maximal = true;
        if (event.writes()) {
            event.readers.for_each([&](EventId r) { maximal = maximal && !was_there(r); });
        } else if (event.source != initial) {
            maximal = was_there(event.source);
        }
        auto const w = event.writes() ? e : event.source;
        for (auto newer = graph.newer(event.cell, w); newer != nothing && maximal; newer = graph[newer].newer)
            maximal = !was_there(newer);
        return maximal;
    }

    // A copy of the graph, which the caller gives back with --depth_.
    ExecutionGraph& pooled(ExecutionGraph const& graph) {
        if (depth_ == pool_.size()) {
            pool_.push_back(graph);
        } else {
            pool_[depth_] = graph;
        }
        return pool_[depth_++];
    }

    // What is found.

    void leaf(ExecutionGraph const& graph) {
        if (options_.find_races && model_ == GraphModel::sc && program_.has_non_atomic) {
            if (auto const pair = sc_race(graph)) race(graph, pair->first, pair->second);
        }
        if (all_have_ended(graph)) {
            ++result_.graphs;
        } else {
            ++result_.blocked;
            if (!options_.all_leaves) return;
        }
        auto const values = final_values(graph);
        auto const [at, is_new] = ends_.try_emplace(values);
        ++at->second.graphs;
        if (!is_new) return;
        at->second.values = values;
        at->second.graph = told(graph);
        if (on_end_ && on_end_(values)) throw Stop{Outcome::violation};
    }

    bool all_have_ended(ExecutionGraph const& graph) const {
        for (std::uint32_t t = 0; t < program_.threads.size(); ++t) {
            auto const last = graph.last(t);
            if (last != nothing && graph[last].blocked) return false;
            if (!steps_.has_ended(t, node_after(graph, t))) return false;
        }
        return true;
    }

    std::vector<Value> final_values(ExecutionGraph const& graph) const {
        std::vector<Value> values;
        for (auto const& [t, reg] : observed_.registers) {
            auto const last = graph.last(t);
            bool const waits = last != nothing && graph[last].blocked;
            values.push_back(steps_.registers(t, waits ? graph[last].node : node_after(graph, t))[reg]);
        }
        for (auto x : observed_.cells) {
            auto const newest = graph.cell(x).newest;
            values.push_back(value_of(graph, x, newest == nothing ? initial : newest));
        }
        return values;
    }

    void fail(Failure const& failure, ExecutionGraph const& graph) {
        if (!result_.failure) result_.failure = FoundFailure{told(graph), failure};
        if (options_.stop_at_failure) throw Stop{Outcome::violation};
    }

    void race(ExecutionGraph const& graph, EventId first, EventId second) {
        auto const numbers = told_numbers(graph);
        result_.race = FoundRace{told(graph), numbers[first], numbers[second]};
        throw Stop{Outcome::violation};
    }

    // Limits.

    void count() {
        if (++result_.steps > options_.limits.states) throw Stop{Outcome::state_limit};
        if (depth_ > most_copies) throw Stop{Outcome::memory_limit};
        if ((result_.steps & 0xff) != 0) return;
        auto const now = seconds();
        if (now > options_.limits.seconds) throw Stop{Outcome::time_limit};
        if (bytes() > options_.limits.bytes) throw Stop{Outcome::memory_limit};
        if (now < reported_ + 0.1) return;
        reported_ = now;
        if (watcher_ && watcher_({result_.steps, result_.graphs, ends_.size(), bytes(), now}))
            throw Stop{Outcome::interrupted};
    }
    double seconds() const {
        std::chrono::duration<double> const passed = std::chrono::steady_clock::now() - start_;
        return passed.count();
    }
    std::size_t bytes() const { return pool_.size() * most_events / 4 * sizeof(GraphEvent); }

    static constexpr std::size_t most_copies = 4096;

    Program const& program_;
    GraphModel model_;
    Observed const& observed_;
    EnumerationOptions const& options_;
    Watcher const& watcher_;
    EndWatcher const& on_end_;
    ThreadSteps steps_;
    EventMaker maker_;
    std::deque<ExecutionGraph> pool_;
    std::size_t depth_ = 0;
    std::map<std::vector<Value>, FoundEnd> ends_;
    Enumeration result_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    double reported_ = 0;
};

}  // namespace

Enumeration enumerate_graphs(Program const& program, GraphModel model, Observed const& observed,
                             EnumerationOptions const& options, Watcher const& watcher,
                             EndWatcher const& on_end) {
    Enumeration result;
    // What threads do before their first access is worked out even before the first graph.
    record(result, [&] { result = Enumerator(program, model, observed, options, watcher, on_end).run(); });
    return result;
}

}  // namespace fencepost
