#include <algorithm>
#include <stdexcept>

#include "engine/safety/minimal_states.hpp"
#include "engine/safety/safety.hpp"
#include "engine/safety/sra_messages.hpp"

namespace fencepost {
namespace {

// The nodes that a thread can reach from a state by reads and silent steps alone, each with the minimal views
// that it can have there.
class Reads {
  public:
    // A read or silent step, and where it leads.
    struct Reached {
        std::uint32_t node;
        std::uint32_t before;  // none: where the thread stands in the state
        std::uint32_t edge, message;
        std::uint32_t beside;  // another one with the same node
        bool lowest;
    };

    Reads(ThreadGraph const& graph, std::uint32_t t, NumberedLabels const& labels,
          SraMessages const& messages)
        : graph_(graph), t_(t), labels_(labels), messages_(messages), at_node_(graph.nodes.size(), none) {}

    void explore(SraState const& state) {
        for (auto const& reached : reached_) at_node_[reached.node] = none;
        reached_.clear();
        views_.clear();
        auto const cells = labels_.cells();
        view_.assign(state.views.begin() + t_ * cells, state.views.begin() + (t_ + 1) * cells);
        add(state.nodes[t_], none, 0, 0);
        for (std::uint32_t n = 0; n < reached_.size(); ++n) {
            if (reached_[n].lowest) go_on(state, n);
        }
    }

    std::uint32_t size() const { return static_cast<std::uint32_t>(reached_.size()); }
    Reached const& operator[](std::uint32_t n) const { return reached_[n]; }
    Seen const* view(std::uint32_t n) const { return views_.data() + n * labels_.cells(); }

  private:
    void go_on(SraState const& state, std::uint32_t n) {
        for (auto e : graph_.out[reached_[n].node]) {
            auto const& label = labels_(t_, e);
            if (label.writes()) continue;
            auto const to = graph_.edges[e].to;
            if (label.kind == LabelKind::silent) {
                view_.assign(view(n), view(n) + labels_.cells());
                add(to, n, e, 0);
                continue;
            }
            auto const x = label.cell;
            for (auto j = messages_.first_readable(view(n), x); j < messages_.count(state, x); ++j) {
                if (messages_.message(state, x, j).value != label.read) continue;
                view_.assign(view(n), view(n) + labels_.cells());
                messages_.read(state, view_.data(), x, j);
                add(to, n, e, j);
            }
        }
    }

    // Adds `node` with `view_`, unless it has been reached with a lower one.
    void add(std::uint32_t node, std::uint32_t before, std::uint32_t edge, std::uint32_t message) {
        for (auto n = at_node_[node]; n != none; n = reached_[n].beside) {
            if (is_below(view(n), view_.data())) return;
        }
        for (auto n = at_node_[node]; n != none; n = reached_[n].beside) {
            if (is_below(view_.data(), view(n))) reached_[n].lowest = false;
        }
        reached_.push_back({node, before, edge, message, at_node_[node], true});
        at_node_[node] = size() - 1;
        views_.insert(views_.end(), view_.begin(), view_.end());
    }

    bool is_below(Seen const* a, Seen const* b) const {
        return std::equal(a, a + labels_.cells(), b, [](Seen i, Seen j) { return i <= j; });
    }

    ThreadGraph const& graph_;
    std::uint32_t t_;
    NumberedLabels const& labels_;
    SraMessages const& messages_;
    std::vector<std::uint32_t> at_node_;  // the last one reached with each node
    std::vector<Reached> reached_;
    std::vector<Seen> views_;
    std::vector<Seen> view_;
};

}  // namespace

class ForwardSearch::Search {
  public:
    Search(ThreadGraphs const& graphs, std::vector<BadStates> const& bad, std::uint32_t most_messages)
        : graphs_(graphs),
          bad_(bad),
          threads_(static_cast<std::uint32_t>(graphs.threads.size())),
          most_messages_(most_messages),
          labels_(graphs, bad_),
          needs_(graphs, labels_, bad_),
          messages_(graphs, labels_, needs_) {
        if (most_messages == 0 || most_messages > most_messages_of_a_cell)
            throw std::invalid_argument("most_messages is from 1 to 127");
        for (auto* reads : {&reads_, &last_reads_}) {
            for (std::uint32_t t = 0; t < threads_; ++t)
                reads->emplace_back(graphs.threads[t], t, labels_, messages_);
        }
        std::vector<std::uint32_t> nodes(threads_);
        start(nodes, 0);
    }

    bool found() const { return found_ != no_state; }

    bool expand_next() {
        while (expanded_ < states_.size() && !states_.is_minimal(expanded_)) ++expanded_;
        if (expanded_ == states_.size()) return false;
        messages_.unpack(states_.key(expanded_), states_.numbers(expanded_), state_);
        for (std::uint32_t t = 0; t < threads_ && !found(); ++t) {
            each_block(state_, t, [&](std::uint32_t, std::uint32_t) {
                ++transitions_;
                add(expanded_, t);
                return !found();
            });
        }
        ++expanded_;
        return true;
    }

    ForwardStats stats() const {
        return {states_.size(), transitions_, states_.size() - expanded_, states_.bytes(), truncated_};
    }

    std::vector<RunStep> path() {
        std::vector<RunStep> steps;
        if (!found()) return steps;
        SraState state = messages_.initial(start_nodes());
        for (auto n : states_to_bad()) {
            if (states_.parent(n) != no_state) state = done_again(state, n, steps);
        }
        add_last_reads(state, steps);
        return steps;
    }

    std::vector<std::uint32_t> start_nodes() {
        if (!found()) return {};
        auto const first = states_to_bad().front();
        messages_.unpack(states_.key(first), states_.numbers(first), state_);
        return state_.nodes;
    }

  private:
    void start(std::vector<std::uint32_t>& nodes, std::uint32_t t) {
        if (t == threads_) {
            next_ = messages_.initial(nodes);
            return add(no_state, 0);
        }
        for (auto node : graphs_.threads[t].initial) {
            nodes[t] = node;
            start(nodes, t + 1);
        }
    }

    // Lets t do a block in every way. `each` is called with the last of its reads and the edge of its write,
    // and finds the state after them in `next_`; it returns whether to go on.
    template <class Each>
    void each_block(SraState const& state, std::uint32_t t, Each each) {
        auto& reads = reads_[t];
        reads.explore(state);
        for (std::uint32_t n = 0; n < reads.size(); ++n) {
            if (!reads[n].lowest) continue;
            for (auto e : graphs_.threads[t].out[reads[n].node]) {
                if (write(state, t, reads.view(n), e) && !each(n, e)) return;
            }
        }
    }

    // Whether the edge is a write or RMW that t can do with this view; then `next_` is the state after it.
    bool write(SraState const& state, std::uint32_t t, Seen const* view, std::uint32_t e) {
        auto const& label = labels_(t, e);
        if (!label.writes()) return false;
        auto const last = messages_.count(state, label.cell) - 1;  // if it is read, it is there
        if (label.reads() && messages_.message(state, label.cell, last).value != label.read) return false;
        next_ = state;
        next_.nodes[t] = graphs_.threads[t].edges[e].to;
        auto* const own = next_.views.data() + t * labels_.cells();
        std::copy_n(view, labels_.cells(), own);
        if (label.reads()) messages_.read_last(next_, own, label.cell);
        messages_.write(next_, t, label.cell, label.written);
        messages_.forget(next_);
        return true;
    }

    // Adds `next_`, if it can still lead to a bad state.
    void add(StateNumber parent, std::uint32_t t) {
        if (!needs_.is_hopeful(next_.nodes)) return;
        for (std::uint32_t x = 0; x < labels_.cells(); ++x) {
            if (messages_.count(next_, x) <= most_messages_) continue;
            truncated_ = true;
            return;
        }
        messages_.pack(next_, key_, views_);
        if (!states_.add(key_, views_, parent, t)) return;
        if (is_bad(next_)) found_ = static_cast<StateNumber>(states_.size() - 1);
    }

    // Bad states.

    bool is_bad(SraState const& state) {
        return needs_.any_near(state.nodes, [&](std::size_t bad) {
            if (!has_memory(state, bad) || !can_end(state, bad)) return false;
            bad_found_ = bad;
            return true;
        });
    }

    bool has_memory(SraState const& state, std::size_t bad) const {
        return std::ranges::all_of(bad_[bad].memory, [&](auto const& asked) {
            auto const x = labels_.cell(asked.cell);
            auto const last = messages_.count(state, x) - 1;
            return messages_.message(state, x, last).value == labels_.value(x, asked.value);
        });
    }

    // Whether threads can read on so that the state is bad; `last_` has the last read of each.
    bool can_end(SraState const& state, std::size_t bad) {
        auto const& [nodes, memory, race] = bad_[bad];
        last_.assign(threads_, none);
        for (std::uint32_t t = 0; t < threads_; ++t) {
            bool const races = race && race->thread == t;
            if (nodes[t].empty() && !races) continue;
            auto& reads = last_reads_[t];
            reads.explore(state);
            for (std::uint32_t n = 0; n < reads.size() && last_[t] == none; ++n) {
                if (!needs_.is_there(t, reads[n].node, bad)) continue;
                if (!races || !messages_.has_seen_last(state, reads.view(n), labels_.cell(race->cell)))
                    last_[t] = n;
            }
            if (last_[t] == none) return false;
        }
        return true;
    }

    // The run.

    std::vector<StateNumber> states_to_bad() const {
        std::vector<StateNumber> states;
        for (auto n = found_; n != no_state; n = states_.parent(n)) states.push_back(n);
        std::ranges::reverse(states);
        return states;
    }

    // The state of number n, by the block that leads there from `state`, its parent.
    SraState done_again(SraState const& state, StateNumber n, std::vector<RunStep>& steps) {
        auto const t = states_.thread(n);
        each_block(state, t, [&](std::uint32_t read, std::uint32_t e) {
            messages_.pack(next_, key_, views_);
            if (!states_.is(n, key_, views_)) return true;
            add_reads(state, t, reads_[t], read, steps);
            auto const& label = labels_(t, e);
            add_step(state, t, e, messages_.count(state, label.cell) - 1, steps);
            return false;
        });
        return next_;
    }

    void add_last_reads(SraState const& state, std::vector<RunStep>& steps) {
        can_end(state, bad_found_);
        for (std::uint32_t t = 0; t < threads_; ++t) add_reads(state, t, last_reads_[t], last_[t], steps);
    }

    void add_reads(SraState const& state, std::uint32_t t, Reads const& reads, std::uint32_t n,
                   std::vector<RunStep>& steps) const {
        if (n == none || reads[n].before == none) return;
        add_reads(state, t, reads, reads[n].before, steps);
        add_step(state, t, reads[n].edge, reads[n].message, steps);
    }

    // A step that reads this message of its cell, if it reads.
    void add_step(SraState const& state, std::uint32_t t, std::uint32_t e, std::uint32_t message,
                  std::vector<RunStep>& steps) const {
        auto const& edge = graphs_.threads[t].edges[e];
        auto const& label = labels_(t, e);
        auto const writer = label.reads() ? messages_.message(state, label.cell, message).writer : threads_;
        steps.push_back({t, edge.pc, edge.label, edge.to, writer});
    }

    ThreadGraphs const& graphs_;
    std::vector<BadStates> bad_;
    std::uint32_t threads_;
    std::uint32_t most_messages_;
    NumberedLabels labels_;
    SraNeeds needs_;
    SraMessages messages_;
    std::vector<Reads> reads_, last_reads_;  // per thread: in blocks, and before a bad state
    MinimalStates states_;
    StateNumber expanded_ = 0;  // states before this one
    StateNumber found_ = no_state;
    std::size_t bad_found_ = 0;
    std::uint64_t transitions_ = 0;
    bool truncated_ = false;
    SraState state_, next_;
    std::vector<std::uint8_t> key_;
    std::vector<Seen> views_;
    std::vector<std::uint32_t> last_;
};

ForwardSearch::ForwardSearch(ThreadGraphs const& graphs, std::vector<BadStates> const& bad,
                             std::uint32_t most_messages)
    : search_(std::make_unique<Search>(graphs, bad, most_messages)) {}
ForwardSearch::~ForwardSearch() = default;

Outcome ForwardSearch::run(Limits const& limits, Watcher const& watcher) {
    return go_on(*search_, limits, watcher);
}
ForwardStats ForwardSearch::stats() const {
    return search_->stats();
}
std::vector<RunStep> ForwardSearch::path() const {
    return search_->path();
}
std::vector<std::uint32_t> ForwardSearch::start_nodes() const {
    return search_->start_nodes();
}

}  // namespace fencepost
