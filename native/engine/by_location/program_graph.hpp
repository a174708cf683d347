// All states of a program under sequential consistency, without monitor, and the steps between them.
#pragma once

#include <bit>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/by_location/graph_states.hpp"
#include "engine/monitors/labels.hpp"
#include "engine/search/expansion.hpp"
#include "engine/search/team.hpp"
#include "engine/state/store_thrifty.hpp"

namespace fencepost {

// A step: where it leads, and what a monitor would be told about it.
struct GraphEdge {
    StateNumber target;
    LabelNumber label;
    auto operator<=>(GraphEdge const&) const = default;
};

// An edge as it is kept, in six bytes: most of the graph are edges.
struct PackedEdge {
    PackedEdge(GraphEdge edge)
        : low(static_cast<std::uint16_t>(edge.target)),
          high(static_cast<std::uint16_t>(edge.target >> 16)),
          label(static_cast<std::uint16_t>(edge.label)) {}
    GraphEdge unpacked() const { return {StateNumber{high} << 16 | low, label}; }
    std::uint16_t low, high, label;
};
using EdgeArena = ArenaOf<PackedEdge>;

using StandNumber = std::uint16_t;

// Stands and labels have 16 bits.
struct TooManyNumbers : std::runtime_error {
    TooManyNumbers() : std::runtime_error("too many different accesses") {}
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
            if (stands_.size() > UINT16_MAX) throw TooManyNumbers();
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

// Consecutive nodes and, once a worker has expanded them, their successors.
struct GraphChunk {
    explicit GraphChunk(std::size_t words) : successors(words) {}

    StateNumber first = 0;
    std::size_t nodes = 0;
    std::vector<Word> states;  // of the nodes, one after the other
    StateList successors;
    std::vector<Origin> origins;
    std::vector<std::size_t> ends;    // per node: of its successors
    std::vector<StandNumber> stands;  // per node and thread, as the worker numbers them
    std::vector<Word> keeping;        // per node: the exchanges that leave it as it is
    std::size_t worker = 0;
    std::vector<std::vector<MonitorEvent>> labels;  // that the worker has numbered since its last chunk
    std::vector<std::pair<Stand, StateNumber>> new_stands;
    std::exception_ptr failed;  // at the node after those that have an end

    GraphBatch batch;  // the successors, where several workers store them together
    std::size_t first_node = 0, first_edge = 0;
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
        chunk.ends.clear();
        chunk.stands.clear();
        chunk.keeping.clear();
        chunk.failed = nullptr;
        try {
            for (std::size_t i = 0; i < chunk.nodes; ++i) {
                auto const n = static_cast<StateNumber>(chunk.first + i);
                take_up(n, &chunk.states[i * machine_.key_words()]);
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

// Explored breadth first, in rounds: workers expand chunks of nodes, and store what they have made. Nodes get
// the numbers that one worker alone would give them, so the graph does not depend on the number of workers.
class ProgramGraph {
  public:
    ProgramGraph(Program const& program, Model model, std::optional<PersistentSets> const& reduction,
                 Team& team, MemoryBudget& memory, bool may_compress)
        : team_(team),
          memory_(memory),
          most_bytes_(memory.left()),
          threads_(program.threads.size()),
          stands_(program),
          nodes_(memory, 1 + (threads_ + 3) / 4 + (program.exchanges.empty() ? 0 : 1)),
          edges_(memory, 1) {
        for (std::size_t n = 0; n < team.size(); ++n)
            workers_.push_back(std::make_unique<GraphWorker>(program, model, n, reduction));
        auto const shards = team.size() == 1 ? 1 : team.size() * shards_per_worker;
        words_ = machine().key_words();
        states_ = std::make_unique<States>(words_, words_, memory.left(), may_compress, shards);
        global_labels_.resize(team.size());
        global_stands_.resize(team.size());
    }

    // Expands some more nodes, and stores their successors; false when there is nothing left to do.
    bool grow() {
        if (sent_ == 0) start();
        auto const waiting = states_->size() - sent_;
        if (waiting == 0) return false;
        memory_.allow(most_bytes_ - std::min(most_bytes_, states_->bytes()));
        if (workers_.size() == 1 || waiting <= chunk_nodes) {
            take_chunks(1, std::min(chunk_nodes, waiting));
            load(*chunks_[0]);
            workers_[0]->expand(*chunks_[0]);
            add(*chunks_[0]);
        } else {
            auto const most = workers_.size() * chunks_per_worker;
            auto const nodes = std::clamp(waiting / most, chunk_nodes, most_chunk_nodes);
            take_chunks(std::min(most, (waiting + nodes - 1) / nodes), nodes);
            states_->plain() == nullptr ? add_compressed() : add_together(*states_->plain());
        }
        if (bytes() > most_bytes_ / 2) states_->compress();
        return true;
    }

    std::size_t size() const { return states_->size(); }
    std::size_t expanded() const { return nodes_.size(); }
    std::size_t edges() const { return edges_.size(); }
    // Puts the states into less memory, if that is allowed and was not done yet.
    void compress() {
        states_->compress();
        states_->finish();
    }
    std::optional<std::uint64_t> compressed_after() const { return states_->compressed_after(); }
    std::size_t bytes() const { return states_->bytes() + memory_.used(); }
    std::size_t peak_bytes() const { return states_->peak_bytes() + memory_.used(); }

    std::size_t first_edge(StateNumber n) const { return n < nodes_.size() ? nodes_[n][0] : edges_.size(); }
    // Rows as in `add_node`. Of a row: where t stands, and the exchanges of threads that leave the node as it
    // is, a bit for each.
    Arena const& node_rows() const { return nodes_; }
    EdgeArena const& edge_rows() const { return edges_; }
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
    Origin origin(StateNumber n) const { return states_->origin(n); }
    void load(StateNumber n, Word* state) const { states_->load(n, state); }

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
    using States = ThriftyStoreOf<GraphStates>;

    static constexpr std::size_t chunk_nodes = 32, most_chunk_nodes = 128;
    static constexpr std::size_t chunks_per_worker = 8;  // in a round
    static constexpr std::size_t shards_per_worker = 4;

    void start() {
        GraphChunk chunk(machine().words());
        workers_[0]->start(chunk);
        add(chunk);
    }

    // The next nodes that are not expanded yet; states stored together are expanded together.
    void take_chunks(std::size_t count, std::size_t nodes) {
        while (chunks_.size() < count) chunks_.push_back(std::make_unique<GraphChunk>(machine().words()));
        taken_ = count;
        for (std::size_t c = 0; c < count; ++c) {
            chunks_[c]->first = static_cast<StateNumber>(sent_);
            chunks_[c]->nodes = std::min(nodes, states_->size() - sent_);
            sent_ += chunks_[c]->nodes;
        }
    }

    void load(GraphChunk& chunk) const {
        chunk.states.resize(chunk.nodes * words_);
        for (std::size_t i = 0; i < chunk.nodes; ++i)
            load(static_cast<StateNumber>(chunk.first + i), &chunk.states[i * words_]);
    }

    static std::size_t successors(GraphChunk const& chunk) {
        if (!chunk.failed) return chunk.successors.size();
        return chunk.ends.empty() ? 0 : chunk.ends.back();
    }

    // In three passes, as in explorer.hpp.
    void add(GraphChunk& chunk) {
        translate(chunk);
        auto& made = chunk.successors;
        auto const count = successors(chunk);
        hashes_.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            hashes_[i] = states_->hash(made[i]);
            states_->prefetch_slot(hashes_[i]);
        }
        for (std::size_t i = 0; i < count; ++i) states_->prefetch_state(hashes_[i]);
        auto const first_edge = edges_.size();
        for (std::size_t i = 0; i < chunk.ends.size(); ++i) write_node(nodes_.append(), chunk, i, first_edge);
        for (std::size_t i = 0; i < count; ++i) {
            auto const number = states_->put(made[i], hashes_[i], chunk.origins[i]);
            if (chunk.nodes == 0) continue;  // the first states
            *edges_.append() = edge_to(number, chunk, i);
        }
        if (chunk.failed) std::rethrow_exception(chunk.failed);
    }

    // Compressed states are loaded and stored by the caller alone.
    void add_compressed() {
        for (std::size_t c = 0; c < taken_; ++c) load(*chunks_[c]);
        team_.each(taken_, [&](std::size_t c, std::size_t worker) { workers_[worker]->expand(*chunks_[c]); });
        for (std::size_t c = 0; c < taken_; ++c) add(*chunks_[c]);
    }

    // The same for all chunks, by all workers, in the steps of graph_states.hpp.
    void add_together(GraphStates& states) {
        team_.each(taken_, [&](std::size_t c, std::size_t worker) {
            auto& chunk = *chunks_[c];
            load(chunk);
            workers_[worker]->expand(chunk);
            states.sort(chunk.batch, chunk.successors, chunk.origins.data(), successors(chunk));
        });
        // As one worker would, they add what comes before a failure.
        auto const has_failed = [](auto const& chunk) { return chunk->failed != nullptr; };
        auto const end = chunks_.begin() + static_cast<std::ptrdiff_t>(taken_);
        auto const failed = std::find_if(chunks_.begin(), end, has_failed);
        if (failed != end) taken_ = static_cast<std::size_t>(failed - chunks_.begin()) + 1;
        auto nodes = nodes_.size(), edges = edges_.size();
        std::vector<GraphBatch*> batches;
        for (std::size_t c = 0; c < taken_; ++c) {
            auto& chunk = *chunks_[c];
            translate(chunk);
            chunk.first_node = std::exchange(nodes, nodes + chunk.ends.size());
            chunk.first_edge = std::exchange(edges, edges + successors(chunk));
            batches.push_back(&chunk.batch);
        }
        auto const before = states.size();
        states.begin(std::move(batches));
        team_.each(states.shards(), [&](std::size_t shard, std::size_t) { states.look_up(shard); });
        team_.each(taken_, [&](std::size_t c, std::size_t) { states.count_new(chunks_[c]->batch); });
        states.make_room();
        edges_.append_many(edges - edges_.size());
        nodes_.append_many(nodes - nodes_.size());
        team_.each(taken_, [&](std::size_t c, std::size_t) { write(*chunks_[c], states); });
        states_->move_for(states.size() - before);
        if (failed != end) std::rethrow_exception((*failed)->failed);
    }
    void write(GraphChunk& chunk, GraphStates& states) {
        states.write_new(chunk.batch);
        for (std::size_t i = 0; i < chunk.ends.size(); ++i)
            write_node(nodes_[chunk.first_node + i], chunk, i, chunk.first_edge);
        for (std::size_t i = 0; i < successors(chunk); ++i)
            *edges_[chunk.first_edge + i] = edge_to(states.number(chunk.batch, i), chunk, i);
    }

    void write_node(Word* node, GraphChunk const& chunk, std::size_t i, std::size_t first_edge) const {
        node[0] = first_edge + (i == 0 ? 0 : chunk.ends[i - 1]);
        for (std::size_t t = 0; t < threads_; ++t) {
            Word const stand = global_stands_[chunk.worker][chunk.stands[i * threads_ + t]];
            node[1 + t / 4] |= stand << (t % 4 * 16);
        }
        if (!chunk.keeping.empty()) node[1 + (threads_ + 3) / 4] = chunk.keeping[i];
    }
    PackedEdge edge_to(StateNumber target, GraphChunk& chunk, std::size_t i) const {
        auto const label = workers_[chunk.worker]->machine().monitor().label(chunk.successors[i]);
        return GraphEdge{target, global_labels_[chunk.worker][label]};
    }

    // Translates a worker's numbers to those of the graph. Its chunks come in the order in which it made
    // them.
    void translate(GraphChunk const& chunk) {
        for (auto const& label : chunk.labels) {
            auto number = Labels::nothing;
            for (auto const& event : label) number = labels_.append(number, event);
            if (number > UINT16_MAX) throw TooManyNumbers();
            global_labels_[chunk.worker].push_back(number);
        }
        for (auto const& [stand, example] : chunk.new_stands)
            global_stands_[chunk.worker].push_back(stands_.number(stand, example));
    }

    Team& team_;
    MemoryBudget& memory_;    // of nodes and edges
    std::size_t most_bytes_;  // of these and the states
    std::size_t threads_, words_ = 0;
    std::vector<std::unique_ptr<GraphWorker>> workers_;  // the first is used by the caller
    std::unique_ptr<States> states_;
    Labels labels_;
    Stands stands_;
    Arena nodes_;  // the number of the first edge, where the threads stand, which exchanges keep the node
    EdgeArena edges_;
    std::vector<std::vector<LabelNumber>> global_labels_;  // per worker
    std::vector<std::vector<StandNumber>> global_stands_;  // per worker
    std::vector<std::uint64_t> hashes_;
    std::vector<std::unique_ptr<GraphChunk>> chunks_;
    std::size_t taken_ = 0;  // chunks, in this round
    std::size_t sent_ = 0;   // nodes in chunks made so far
};

}  // namespace fencepost
