// All states of a program under sequential consistency, without monitor, and the steps between them.
#pragma once

#include <bit>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/monitors/labels.hpp"
#include "engine/search/expansion.hpp"
#include "engine/search/team.hpp"
#include "engine/state/store_thrifty.hpp"

namespace fencepost {

// A step: where it leads, and what a monitor would be told about it.
struct GraphEdge {
    StateNumber target;
    LabelNumber label;
};

using StandNumber = std::uint16_t;

struct TooManyStands : std::runtime_error {
    TooManyStands() : std::runtime_error("too many different accesses") {}
};

// Where a thread stands: at which point, and with which operands if its violations depend on them.
struct Stand {
    std::uint32_t thread, point;
    std::vector<Value> operands;
    auto operator<=>(Stand const&) const = default;
};

// Numbers for stands, each with an example of a state.
class Stands {
  public:
    explicit Stands(Program const& program);

    template <class Monitor>
    StandNumber number(Machine<Monitor> const& machine, Word const* state, StateNumber n, std::uint32_t t,
                       Access const* access) {
        auto const point = machine.point(state, t);
        if (access == nullptr || !depends_[t][point]) {
            auto& known = fixed_[t][point];
            if (known == none) known = number({t, point, {}}, n);
            return static_cast<StandNumber>(known);
        }
        Stand stand{t, point, {access->cell, access->first}};
        if (access->instruction->op == Op::wait) {
            auto const awaited = machine.awaited(state, t, *access->instruction);
            stand.operands.insert(stand.operands.end(), awaited.begin(), awaited.end());
        }
        return number(stand, n);
    }
    StandNumber number(Stand const& stand, StateNumber example) {
        auto const [at, is_new] = numbers_.try_emplace(stand, static_cast<StandNumber>(stands_.size()));
        if (is_new) {
            if (stands_.size() > UINT16_MAX) throw TooManyStands();
            stands_.emplace_back(stand, example);
        }
        return at->second;
    }

    std::size_t size() const { return stands_.size(); }
    Stand const& operator[](std::size_t n) const { return stands_[n].first; }
    StateNumber example(std::size_t n) const { return stands_[n].second; }

  private:
    std::vector<std::vector<bool>> depends_;         // per thread and point: on operands
    std::vector<std::vector<std::uint32_t>> fixed_;  // per thread and point
    std::map<Stand, StandNumber> numbers_;
    std::vector<std::pair<Stand, StateNumber>> stands_;
};

// Consecutive nodes, and then their successors, made by a worker.
struct GraphChunk {
    explicit GraphChunk(std::size_t words) : successors(words) {}

    StateNumber first = 0;
    std::vector<Word> states;
    StateList successors;
    std::vector<Origin> origins;
    std::vector<std::size_t> ends;    // per node: of its successors
    std::vector<StandNumber> stands;  // per node and thread, as the worker numbers them
    std::vector<Word> keeping;        // per node: the exchanges that leave it as it is
    std::size_t worker = 0;
    std::vector<std::vector<MonitorEvent>> labels;  // that the worker has numbered since its last chunk
    std::vector<std::pair<Stand, StateNumber>> new_stands;
    std::exception_ptr failed;
};

// Expands nodes, with numbers of its own for labels and stands.
class GraphWorker {
  public:
    using Monitor = LabelMonitor;

    GraphWorker(Program const& program, Model model, std::size_t number,
                std::optional<PersistentSets> reduction)
        : number_(number),
          machine_(program, model),
          symmetry_(machine_),
          expansion_(machine_, symmetry_, std::move(reduction)),
          stands_(program) {}
    GraphWorker(GraphWorker const&) = delete;
    GraphWorker& operator=(GraphWorker const&) = delete;

    void start(GraphChunk& chunk) {
        expansion_.start();
        finish(chunk);
    }
    void expand(GraphChunk& chunk) {
        auto const words = machine_.key_words();
        chunk.ends.clear();
        chunk.stands.clear();
        chunk.keeping.clear();
        try {
            for (std::size_t i = 0; i * words < chunk.states.size(); ++i) {
                auto const n = static_cast<StateNumber>(chunk.first + i);
                take_up(n, &chunk.states[i * words]);
                for (std::uint32_t t = 0; t < expansion_.accesses().size(); ++t) {
                    chunk.stands.push_back(
                        stands_.number(machine_, expansion_.state(), n, t, expansion_.accesses()[t]));
                }
                if (symmetry_.exchanges_threads())
                    chunk.keeping.push_back(symmetry_.keeping(expansion_.state()));
                expansion_.step(n);
                chunk.ends.push_back(expansion_.successors().size());
            }
        } catch (...) {
            chunk.failed = std::current_exception();
        }
        finish(chunk);
    }
    // By which thread, and as which of its successors, a step of n was made.
    Origin origin_of_step(StateNumber n, Word const* state, std::size_t step) {
        take_up(n, state);
        expansion_.step(n);
        auto const origin = expansion_.origins()[step];
        expansion_.clear_successors();
        return origin;
    }

    Machine<Monitor> const& machine() const { return machine_; }
    Symmetry<Monitor> const& symmetry() const { return symmetry_; }
    Findings const& findings() { return expansion_.findings(); }

  private:
    void take_up(StateNumber n, Word const* state) {
        std::copy_n(state, machine_.key_words(), expansion_.state());
        machine_.monitor().forget(expansion_.state());
        expansion_.check(n);
    }
    void finish(GraphChunk& chunk) {
        chunk.worker = number_;
        chunk.labels.clear();
        chunk.new_stands.clear();
        auto const& labels = machine_.monitor().labels();
        for (; labels_sent_ < labels.size(); ++labels_sent_)
            chunk.labels.push_back(labels.events(static_cast<LabelNumber>(labels_sent_)));
        for (; stands_sent_ < stands_.size(); ++stands_sent_)
            chunk.new_stands.emplace_back(stands_[stands_sent_], stands_.example(stands_sent_));
        expansion_.hand_over(chunk.successors, chunk.origins);
    }

    std::size_t number_;
    Machine<Monitor> machine_;
    Symmetry<Monitor> symmetry_;
    Expansion<Monitor> expansion_;
    Stands stands_;
    std::size_t labels_sent_ = 0, stands_sent_ = 0;
};

// Explored breadth first. Workers expand nodes while one of them stores earlier successors, in the order of
// the nodes, so the graph does not depend on the number of workers.
class ProgramGraph {
  public:
    ProgramGraph(Program const& program, Model model, std::optional<PersistentSets> const& reduction,
                 Team& team, MemoryBudget& memory, bool may_compress)
        : team_(team),
          memory_(memory),
          threads_(program.threads.size()),
          stands_(program),
          nodes_(memory, 1 + (threads_ + 3) / 4 + (program.exchanges.empty() ? 0 : 1)),
          edges_(memory, 1) {
        for (std::size_t n = 0; n < team.size(); ++n)
            workers_.push_back(std::make_unique<GraphWorker>(program, model, n, reduction));
        words_ = machine().key_words();
        store_ = std::make_unique<ThriftyStore>(words_, words_, memory.left(), may_compress);
        global_labels_.resize(team.size());
        global_stands_.resize(team.size());
    }

    // Stores some more states, and expands others; false when there is nothing left to do.
    bool grow() {
        if (sent_ == 0) start();
        send_out();
        if (sent_out_ + made_ == 0) return false;
        auto const store_or_expand = [&](std::size_t task, std::size_t worker) {
            if (task > 0) return workers_[worker]->expand(*outgoing_[task - 1]);
            for (std::size_t i = 0; i < made_; ++i) add(*incoming_[i]);
        };
        if (sent_out_ > 1) {
            team_.each(1 + sent_out_, store_or_expand);
        } else {
            for (std::size_t task = 0; task <= sent_out_; ++task) store_or_expand(task, 0);
        }
        if (bytes() > (memory_.used() + memory_.left()) / 2) store_->compress();
        std::swap(incoming_, outgoing_);
        made_ = std::exchange(sent_out_, 0);
        return true;
    }

    std::size_t size() const { return store_->size(); }
    std::size_t expanded() const { return nodes_.size(); }
    std::size_t edges() const { return edges_.size(); }
    // Puts the states into less memory, if that is allowed and was not done yet.
    void compress() {
        store_->compress();
        store_->finish();
    }
    std::optional<std::uint64_t> compressed_after() const { return store_->compressed_after(); }
    std::size_t bytes() const { return store_->bytes() + memory_.used(); }
    std::size_t peak_bytes() const { return store_->peak_bytes() + memory_.used(); }

    std::size_t first_edge(StateNumber n) const { return n < nodes_.size() ? nodes_[n][0] : edges_.size(); }
    // Rows as in `add_node`. Of a row: where t stands, and the exchanges of threads that leave the node as it
    // is, a bit for each.
    Arena const& node_rows() const { return nodes_; }
    Arena const& edge_rows() const { return edges_; }
    std::size_t node_words() const {
        return 1 + (threads_ + 3) / 4 + (symmetry().exchanges_threads() ? 1 : 0);
    }
    static StandNumber stand_in(Word const* row, std::uint32_t t) {
        return static_cast<StandNumber>(row[1 + t / 4] >> (t % 4 * 16));
    }
    Word keeping_in(Word const* row) const {
        return symmetry().exchanges_threads() ? row[1 + (threads_ + 3) / 4] : 0;
    }
    Stands const& stands() const { return stands_; }
    Labels const& labels() const { return labels_; }
    Machine<LabelMonitor> const& machine() const { return workers_[0]->machine(); }
    Symmetry<LabelMonitor> const& symmetry() const { return workers_[0]->symmetry(); }
    Origin origin(StateNumber n) const { return store_->origin(n); }
    void load(StateNumber n, Word* state) const { store_->load(n, state); }

    // What was found in single states; of several, what has the smallest number.
    Findings findings() const {
        Findings all;
        for (auto const& worker : workers_) {
            auto const& own = worker->findings();
            // Failures before any access have no state, which is the largest number.
            if (own.race && (!all.race || own.race->at.state < all.race->at.state)) all.race = own.race;
            if (own.failure && (!all.failure || own.failure->state + 1 < all.failure->state + 1))
                all.failure = own.failure;
            if (own.deadlock && (!all.deadlock || *own.deadlock < *all.deadlock)) all.deadlock = own.deadlock;
        }
        return all;
    }

    Origin origin_of_edge(StateNumber n, std::size_t edge) {
        std::vector<Word> state(words_);
        load(n, state.data());
        return workers_[0]->origin_of_step(n, state.data(), edge - first_edge(n));
    }

  private:
    static constexpr std::size_t chunk_nodes = 32;
    static constexpr std::size_t chunks_per_worker = 64;

    void start() {
        GraphChunk chunk(machine().words());
        workers_[0]->start(chunk);
        add(chunk);
    }

    // Takes chunks of nodes that are not expanded yet. One worker takes one chunk at a time, so that states
    // stored together are expanded together.
    void send_out() {
        auto const most = workers_.size() == 1 ? 1 : workers_.size() * chunks_per_worker;
        for (; sent_out_ < most && sent_ < store_->size(); ++sent_out_) {
            if (sent_out_ == outgoing_.size())
                outgoing_.push_back(std::make_unique<GraphChunk>(machine().words()));
            auto& chunk = *outgoing_[sent_out_];
            auto const count = std::min(chunk_nodes, store_->size() - sent_);
            chunk.first = static_cast<StateNumber>(sent_);
            chunk.states.resize(count * words_);
            for (std::size_t i = 0; i < count; ++i)
                store_->load(static_cast<StateNumber>(sent_ + i), &chunk.states[i * words_]);
            sent_ += count;
        }
    }

    // In three passes, as in explorer.hpp.
    void add(GraphChunk& chunk) {
        if (chunk.failed) std::rethrow_exception(chunk.failed);
        translate(chunk);
        auto& successors = chunk.successors;
        auto const count = successors.size();
        hashes_.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            hashes_[i] = store_->hash(successors[i]);
            store_->prefetch_slot(hashes_[i]);
        }
        for (std::size_t i = 0; i < count; ++i) store_->prefetch_state(hashes_[i]);
        for (std::size_t node = 0; node < chunk.ends.size(); ++node) add_node(chunk, node);
        for (std::size_t i = 0; i < count; ++i) {
            auto const number = store_->put(successors[i], hashes_[i], chunk.origins[i]);
            if (chunk.ends.empty()) continue;  // the first states
            auto const label = workers_[chunk.worker]->machine().monitor().label(successors[i]);
            *edges_.append() = std::bit_cast<Word>(GraphEdge{number, global_labels_[chunk.worker][label]});
        }
    }
    void add_node(GraphChunk const& chunk, std::size_t i) {
        Word* const node = nodes_.append();
        node[0] = edges_.size() + (i == 0 ? 0 : chunk.ends[i - 1]);
        for (std::size_t t = 0; t < threads_; ++t) {
            Word const stand = global_stands_[chunk.worker][chunk.stands[i * threads_ + t]];
            node[1 + t / 4] |= stand << (t % 4 * 16);
        }
        if (!chunk.keeping.empty()) node[1 + (threads_ + 3) / 4] = chunk.keeping[i];
    }

    // Translates a worker's numbers to those of the graph. Its chunks come in the order in which it made
    // them.
    void translate(GraphChunk const& chunk) {
        for (auto const& label : chunk.labels) {
            auto number = Labels::nothing;
            for (auto const& event : label) number = labels_.append(number, event);
            global_labels_[chunk.worker].push_back(number);
        }
        for (auto const& [stand, example] : chunk.new_stands)
            global_stands_[chunk.worker].push_back(stands_.number(stand, example));
    }

    Team& team_;
    MemoryBudget& memory_;
    std::size_t threads_, words_ = 0;
    std::vector<std::unique_ptr<GraphWorker>> workers_;  // the first is used by the caller
    std::unique_ptr<ThriftyStore> store_;
    Labels labels_;
    Stands stands_;
    Arena nodes_;  // the number of the first edge, where the threads stand, which exchanges keep the node
    Arena edges_;
    std::vector<std::vector<LabelNumber>> global_labels_;  // per worker
    std::vector<std::vector<StandNumber>> global_stands_;  // per worker
    std::vector<std::uint64_t> hashes_;
    // Nodes that are being expanded, and those expanded before that are being stored; both in their order.
    std::vector<std::unique_ptr<GraphChunk>> outgoing_, incoming_;
    std::size_t sent_out_ = 0, made_ = 0;  // how many of these chunks are in use
    std::size_t sent_ = 0;                 // nodes in chunks made so far
};

}  // namespace fencepost
