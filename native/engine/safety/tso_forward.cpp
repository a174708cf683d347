#include <algorithm>
#include <deque>
#include <stdexcept>

#include "engine/safety/numbered_bad_states.hpp"
#include "engine/safety/relevance.hpp"
#include "engine/safety/tso_safety.hpp"
#include "engine/state/layout.hpp"
#include "engine/state/store.hpp"

namespace fencepost {
namespace {

constexpr std::uint32_t most_buffered = 64;
constexpr std::uint32_t update = 0xffffff;  // as a choice: the oldest write of the thread reaches memory

// The writes that a thread can buffer, numbered.
class Writes {
  public:
    explicit Writes(NumberedLabels const& labels) {
        for (std::uint32_t x = 0; x < labels.cells(); ++x) {
            first_.push_back(static_cast<std::uint32_t>(cells_.size()));
            cells_.insert(cells_.end(), labels.values(x), x);
        }
    }
    std::uint32_t number(std::uint32_t cell, std::uint32_t value) const { return first_[cell] + value; }
    std::uint32_t cell(std::uint32_t write) const { return cells_[write]; }
    std::uint32_t value(std::uint32_t write) const { return write - first_[cells_[write]]; }
    std::size_t size() const { return cells_.size(); }

  private:
    std::vector<std::uint32_t> first_, cells_;
};

// A state, unpacked.
struct TsoState {
    std::vector<std::uint32_t> nodes;                 // per thread
    std::vector<std::uint32_t> cells;                 // their values, numbered
    std::vector<std::vector<std::uint32_t>> buffers;  // per thread, numbers of writes, the oldest first
};

class TsoLayout {
  public:
    TsoLayout(ThreadGraphs const& graphs, NumberedLabels const& labels, std::size_t writes,
              std::uint32_t most) {
        Layout layout;
        for (auto const& graph : graphs.threads) {
            nodes_.push_back(layout.allocate(bits_for(graph.nodes.size() - 1)));
            lengths_.push_back(layout.allocate(bits_for(most)));
            auto& buffer = buffers_.emplace_back();
            for (std::uint32_t n = 0; n < most; ++n)
                buffer.push_back(layout.allocate(bits_for(writes == 0 ? 0 : writes - 1)));
        }
        for (std::uint32_t x = 0; x < labels.cells(); ++x)
            cells_.push_back(layout.allocate(bits_for(labels.values(x) - 1)));
        words_ = std::max<std::size_t>(layout.words(), 1);
    }

    std::size_t words() const { return words_; }

    void pack(TsoState const& state, std::vector<Word>& words) const {
        words.assign(words_, 0);
        for (std::size_t t = 0; t < nodes_.size(); ++t) {
            nodes_[t].set(words.data(), state.nodes[t]);
            lengths_[t].set(words.data(), state.buffers[t].size());
            for (std::size_t n = 0; n < state.buffers[t].size(); ++n)
                buffers_[t][n].set(words.data(), state.buffers[t][n]);
        }
        for (std::size_t x = 0; x < cells_.size(); ++x) cells_[x].set(words.data(), state.cells[x]);
    }

    void unpack(std::vector<Word> const& words, TsoState& state) const {
        state.nodes.resize(nodes_.size());
        state.cells.resize(cells_.size());
        state.buffers.resize(nodes_.size());
        for (std::size_t t = 0; t < nodes_.size(); ++t) {
            state.nodes[t] = get(nodes_[t], words);
            state.buffers[t].resize(get(lengths_[t], words));
            for (std::size_t n = 0; n < state.buffers[t].size(); ++n)
                state.buffers[t][n] = get(buffers_[t][n], words);
        }
        for (std::size_t x = 0; x < cells_.size(); ++x) state.cells[x] = get(cells_[x], words);
    }

  private:
    static std::uint32_t get(Field const& field, std::vector<Word> const& words) {
        return static_cast<std::uint32_t>(field.get(words.data()));
    }

    std::vector<Field> nodes_, lengths_, cells_;
    std::vector<std::vector<Field>> buffers_;
    std::size_t words_ = 0;
};

std::uint32_t checked(std::uint32_t most_writes) {
    if (most_writes == 0 || most_writes > most_buffered)
        throw std::invalid_argument("a store buffer holds 1 to 64 writes");
    return most_writes;
}

}  // namespace

class TsoForwardSearch::Search {
  public:
    Search(ThreadGraphs const& graphs, std::vector<BadStates> const& bad, std::uint32_t most_writes)
        : graphs_(graphs),
          most_writes_(checked(most_writes)),
          labels_(graphs, bad),
          writes_(labels_),
          layout_(graphs, labels_, writes_.size(), most_writes),
          bad_(graphs, labels_, bad),
          store_(layout_.words(), layout_.words(), SIZE_MAX) {
        for (std::uint32_t t = 0; t < graphs.threads.size(); ++t) writes_first_.push_back(find_writers(t));
        for (std::uint32_t x = 0; x < labels_.cells(); ++x) next_.cells.push_back(labels_.initial(x));
        next_.nodes.resize(graphs.threads.size());
        next_.buffers.resize(graphs.threads.size());
        start(0);
    }

    bool found() const { return found_ != no_state; }

    bool expand_next() {
        if (expanded_ == store_.size()) return false;
        load(expanded_, current_);
        if (!write_first()) {
            for (std::uint32_t t = 0; t < graphs_.threads.size(); ++t) {
                move(t);
                if (!current_.buffers[t].empty()) update_memory(t);
            }
        }
        ++expanded_;
        return true;
    }

    ForwardStats stats() const {
        return {store_.size(), transitions_, store_.size() - expanded_, store_.memory().used(), truncated_};
    }

    std::vector<RunStep> path() const {
        auto const no_writer = static_cast<std::uint32_t>(graphs_.threads.size());
        std::vector<RunStep> steps;
        each_step([&](std::uint32_t t, LocalEdge const* edge) {
            if (edge != nullptr) steps.push_back({t, edge->pc, edge->label, edge->to, no_writer});
        });
        return steps;
    }

    // A write to a cell that nobody reads is not buffered: it reaches memory when its thread's next one does,
    // or at the end.
    std::vector<std::uint32_t> updates() const {
        std::vector<std::uint32_t> order;
        std::vector<std::deque<bool>> issued(graphs_.threads.size());  // per write: whether it is buffered
        auto const skip = [&](std::uint32_t t) {
            for (; !issued[t].empty() && !issued[t].front(); issued[t].pop_front()) order.push_back(t);
        };
        each_step([&](std::uint32_t t, LocalEdge const* edge) {
            if (edge == nullptr) {
                skip(t);
                issued[t].pop_front();
                order.push_back(t);
            } else if (edge->label.kind == LabelKind::write) {
                issued[t].push_back(matters(t, *edge));
            } else if (edge->label.kind == LabelKind::read_modify_write) {
                skip(t);
                if (edge->label.cell + 1 != graphs_.initial.size()) order.push_back(t);
            }
        });
        for (std::uint32_t t = 0; t < issued.size(); ++t) {
            for (; !issued[t].empty(); issued[t].pop_front()) order.push_back(t);
        }
        return order;
    }

    std::vector<std::uint32_t> start_nodes() const {
        if (!found()) return {};
        TsoState state;
        load(states_to_bad().front(), state);
        return state.nodes;
    }

  private:
    // Per node, whether the thread can write there before anything else happens.
    std::vector<bool> find_writers(std::uint32_t t) const {
        auto const& graph = graphs_.threads[t];
        std::vector<bool> writers(graph.nodes.size(), false);
        for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
            writers[n] = !graph.out[n].empty() && !bad_.names(t, n) &&
                         std::ranges::all_of(graph.out[n], [&](std::uint32_t e) {
                             return labels_(t, e).kind == LabelKind::write;
                         });
        }
        return writers;
    }

    void start(std::uint32_t t) {
        if (t == graphs_.threads.size()) return add({no_state, 0, 0});
        for (auto node : graphs_.threads[t].initial) {
            next_.nodes[t] = node;
            start(t + 1);
        }
    }

    bool write_first() {
        for (std::uint32_t t = 0; t < graphs_.threads.size(); ++t) {
            if (!writes_first_[t][current_.nodes[t]] || current_.buffers[t].size() == most_writes_) continue;
            move(t);
            return true;
        }
        return false;
    }

    void move(std::uint32_t t) {
        auto const& graph = graphs_.threads[t];
        auto const& out = graph.out[current_.nodes[t]];
        for (std::uint32_t choice = 0; choice < out.size() && !found(); ++choice) {
            auto const e = out[choice];
            auto const& label = labels_(t, e);
            if (!is_enabled(t, label)) continue;
            next_ = current_;
            next_.nodes[t] = graph.edges[e].to;
            if (label.kind == LabelKind::write)
                next_.buffers[t].push_back(writes_.number(label.cell, label.written));
            if (label.kind == LabelKind::read_modify_write) next_.cells[label.cell] = label.written;
            ++transitions_;
            add({expanded_, t & 0xff, choice & 0xffffff});
        }
    }

    bool is_enabled(std::uint32_t t, NumberedLabel const& label) {
        auto const& buffer = current_.buffers[t];
        switch (label.kind) {
            case LabelKind::silent:
                return true;
            case LabelKind::write:
                truncated_ = truncated_ || buffer.size() == most_writes_;
                return buffer.size() < most_writes_;
            case LabelKind::read_modify_write:
                return buffer.empty() && current_.cells[label.cell] == label.read;
            default:
                return seen(t, label.cell) == label.read;
        }
    }

    // What t reads in the cell.
    std::uint32_t seen(std::uint32_t t, std::uint32_t cell) const {
        auto const& buffer = current_.buffers[t];
        auto const own = std::find_if(buffer.rbegin(), buffer.rend(),
                                      [&](std::uint32_t write) { return writes_.cell(write) == cell; });
        return own == buffer.rend() ? current_.cells[cell] : writes_.value(*own);
    }

    void update_memory(std::uint32_t t) {
        if (found()) return;
        next_ = current_;
        auto const write = next_.buffers[t].front();
        next_.buffers[t].erase(next_.buffers[t].begin());
        next_.cells[writes_.cell(write)] = writes_.value(write);
        ++transitions_;
        add({expanded_, t & 0xff, update});
    }

    void add(Origin origin) {
        layout_.pack(next_, packed_);
        if (!store_.insert(packed_.data(), store_.hash(packed_.data()), origin)) return;
        if (is_bad(next_)) found_ = static_cast<StateNumber>(store_.size() - 1);
    }

    bool is_bad(TsoState const& state) const {
        bool const drained = std::ranges::all_of(state.buffers, [](auto const& b) { return b.empty(); });
        constexpr auto unknown = UINT32_MAX;  // a cell has its last value once all buffers are empty
        return bad_.any([&](std::size_t t) { return state.nodes[t]; },
                        [&](std::size_t x) { return drained ? state.cells[x] : unknown; });
    }

    void load(StateNumber n, TsoState& state) const {
        std::vector<Word> words(layout_.words());
        store_.load(n, words.data());
        layout_.unpack(words, state);
    }

    std::vector<StateNumber> states_to_bad() const {
        std::vector<StateNumber> states;
        for (auto n = found_; n != no_state; n = store_.origin(n).parent) states.push_back(n);
        std::ranges::reverse(states);
        return states;
    }

    // The steps to the bad state: an edge of a thread, or none for an update of its buffer.
    template <class Each>
    void each_step(Each each) const {
        auto const states = states_to_bad();
        TsoState before;
        for (std::size_t n = 1; n < states.size(); ++n) {
            auto const [parent, t, choice] = store_.origin(states[n]);
            load(parent, before);
            auto const& graph = graphs_.threads[t];
            each(t, choice == update ? nullptr : &graph.edges[graph.out[before.nodes[t]][choice]]);
        }
    }

    bool matters(std::uint32_t t, LocalEdge const& edge) const {
        auto const e = static_cast<std::uint32_t>(&edge - graphs_.threads[t].edges.data());
        return labels_(t, e).kind == LabelKind::write;
    }

    ThreadGraphs const& graphs_;
    std::uint32_t most_writes_;
    NumberedLabels labels_;
    Writes writes_;
    TsoLayout layout_;
    NumberedBadStates bad_;
    ExactStore store_;
    std::vector<std::vector<bool>> writes_first_;  // per thread and node
    StateNumber expanded_ = 0;                     // states before this one
    StateNumber found_ = no_state;
    std::uint64_t transitions_ = 0;
    bool truncated_ = false;
    TsoState current_, next_;
    std::vector<Word> packed_;
};

TsoForwardSearch::TsoForwardSearch(ThreadGraphs const& graphs, std::vector<BadStates> const& bad,
                                   std::uint32_t most_writes)
    : search_(std::make_unique<Search>(graphs, bad, most_writes)) {}
TsoForwardSearch::~TsoForwardSearch() = default;

Outcome TsoForwardSearch::run(Limits const& limits, Watcher const& watcher) {
    return go_on(*search_, limits, watcher);
}
ForwardStats TsoForwardSearch::stats() const {
    return search_->stats();
}
std::vector<RunStep> TsoForwardSearch::path() const {
    return search_->path();
}
std::vector<std::uint32_t> TsoForwardSearch::start_nodes() const {
    return search_->start_nodes();
}
std::vector<std::uint32_t> TsoForwardSearch::updates() const {
    return search_->updates();
}

}  // namespace fencepost
