#include <algorithm>

#include "engine/safety/numbered_bad_states.hpp"
#include "engine/safety/relevance.hpp"
#include "engine/safety/safety.hpp"
#include "engine/safety/sources.hpp"
#include "engine/state/layout.hpp"
#include "engine/state/store.hpp"

namespace fencepost {
namespace {

// Where each component of a state stands.
struct ScLayout {
    ScLayout(ThreadGraphs const& graphs, NumberedLabels const& labels) {
        Layout layout;
        for (auto const& graph : graphs.threads)
            nodes.push_back(layout.allocate(bits_for(graph.nodes.size() - 1)));
        for (std::uint32_t x = 0; x < labels.cells(); ++x)
            cells.push_back(layout.allocate(bits_for(labels.values(x) - 1)));
        words = std::max<std::size_t>(layout.words(), 1);
    }
    std::vector<Field> nodes;  // per thread
    std::vector<Field> cells;
    std::size_t words;
};

}  // namespace

class ScSearch::Search {
  public:
    Search(ThreadGraphs const& graphs, std::vector<BadStates> const& bad)
        : graphs_(graphs),
          labels_(graphs, bad),
          layout_(graphs, labels_),
          bad_(graphs, labels_, bad),
          store_(layout_.words, layout_.words, SIZE_MAX),
          current_(layout_.words),
          next_(layout_.words) {
        for (std::uint32_t x = 0; x < labels_.cells(); ++x)
            layout_.cells[x].set(next_.data(), labels_.initial(x));
        start(0);
    }

    bool found() const { return found_ != no_state; }

    bool expand_next() {
        if (expanded_ == store_.size()) return false;
        store_.load(expanded_, current_.data());
        for (std::uint32_t t = 0; t < graphs_.threads.size(); ++t) move(expanded_, t);
        ++expanded_;
        return true;
    }

    ForwardStats stats() const {
        return {store_.size(), transitions_, store_.size() - expanded_, store_.memory().used(), false};
    }

    std::vector<RunStep> path() const {
        auto const initial_writer = static_cast<std::uint32_t>(graphs_.threads.size());
        std::vector<std::uint32_t> last(graphs_.initial.size(), initial_writer);
        std::vector<RunStep> steps;
        auto const states = states_to_bad();
        for (std::size_t n = 1; n < states.size(); ++n) {
            auto const [parent, t, choice] = store_.origin(states[n]);
            auto const& graph = graphs_.threads[t];
            auto const& edge = graph.edges[graph.out[node(parent, t)][choice]];
            steps.push_back({t, edge.pc, edge.label, edge.to,
                             edge.label.reads() ? last[edge.label.cell] : initial_writer});
            if (edge.label.writes()) last[edge.label.cell] = t;
        }
        return steps;
    }

    std::vector<std::uint32_t> start_nodes() const {
        std::vector<std::uint32_t> nodes;
        if (!found()) return nodes;
        auto const first = states_to_bad().front();
        for (std::uint32_t t = 0; t < graphs_.threads.size(); ++t) nodes.push_back(node(first, t));
        return nodes;
    }

  private:
    // Adds the initial states; threads before t stand where they start.
    void start(std::uint32_t t) {
        if (t == graphs_.threads.size()) return add({no_state, 0, 0});
        for (auto node : graphs_.threads[t].initial) {
            layout_.nodes[t].set(next_.data(), node);
            start(t + 1);
        }
    }

    void move(StateNumber from, std::uint32_t t) {
        auto const& graph = graphs_.threads[t];
        auto const& out = graph.out[layout_.nodes[t].get(current_.data())];
        for (std::uint32_t choice = 0; choice < out.size() && !found(); ++choice) {
            auto const& label = labels_(t, out[choice]);
            if (label.reads() && layout_.cells[label.cell].get(current_.data()) != label.read) continue;
            next_ = current_;
            layout_.nodes[t].set(next_.data(), graph.edges[out[choice]].to);
            if (label.writes()) layout_.cells[label.cell].set(next_.data(), label.written);
            ++transitions_;
            add({from, t & 0xff, choice & 0xffffff});
        }
    }

    void add(Origin origin) {
        if (!store_.insert(next_.data(), store_.hash(next_.data()), origin)) return;
        if (is_bad(next_.data())) found_ = static_cast<StateNumber>(store_.size() - 1);
    }

    bool is_bad(Word const* state) const {
        return bad_.any([&](std::size_t t) { return layout_.nodes[t].get(state); },
                        [&](std::size_t x) { return layout_.cells[x].get(state); });
    }

    std::uint32_t node(StateNumber n, std::uint32_t t) const {
        std::vector<Word> state(layout_.words);
        store_.load(n, state.data());
        return static_cast<std::uint32_t>(layout_.nodes[t].get(state.data()));
    }

    std::vector<StateNumber> states_to_bad() const {
        std::vector<StateNumber> states;
        for (auto n = found_; n != no_state; n = store_.origin(n).parent) states.push_back(n);
        std::ranges::reverse(states);
        return states;
    }

    ThreadGraphs const& graphs_;
    NumberedLabels labels_;
    ScLayout layout_;
    NumberedBadStates bad_;
    ExactStore store_;
    std::vector<Word> current_, next_;
    StateNumber expanded_ = 0;  // states before this one
    StateNumber found_ = no_state;
    std::uint64_t transitions_ = 0;
};

ScSearch::ScSearch(ThreadGraphs const& graphs, std::vector<BadStates> const& bad)
    : search_(std::make_unique<Search>(graphs, bad)) {}
ScSearch::~ScSearch() = default;

Outcome ScSearch::run(Limits const& limits, Watcher const& watcher) {
    return go_on(*search_, limits, watcher);
}
ForwardStats ScSearch::stats() const {
    return search_->stats();
}
std::vector<RunStep> ScSearch::path() const {
    return search_->path();
}
std::vector<std::uint32_t> ScSearch::start_nodes() const {
    return search_->start_nodes();
}

}  // namespace fencepost
