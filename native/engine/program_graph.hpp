// All states of a program under sequential consistency, without monitor, and the steps between them.
#pragma once

#include <bit>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "engine/expansion.hpp"
#include "engine/labels.hpp"
#include "engine/replay.hpp"
#include "engine/store.hpp"

namespace holdfast {

// A step: where it leads, and what a monitor would be told about it.
struct GraphEdge {
    StateNumber target;
    LabelNumber label;
};

// Where a thread stands: at which point, and with which operands where an answer can depend on them.
using StandNumber = std::uint16_t;

struct TooManyStands : std::runtime_error {
    TooManyStands() : std::runtime_error("too many different accesses") {}
};

// The places where a thread can stand, numbered; enough of an access to ask later what it asks.
class Stands {
  public:
    struct Stand {
        std::uint32_t thread, point;
        std::vector<Value> operands;
        StateNumber example;  // a state in which the thread stands so
        auto key() const { return std::tie(thread, point, operands); }
    };

    explicit Stands(Program const& program);

    template <class Monitor>
    StandNumber number(Machine<Monitor> const& machine, Word const* state, StateNumber n, std::uint32_t t,
                       std::optional<Access> const& access) {
        auto const point = machine.point(state, t);
        if (!access || !depends_[t][point]) {
            auto& known = fixed_[t][point];
            if (known == unnumbered) known = add({t, point, {}, n});
            return static_cast<StandNumber>(known);
        }
        Stand stand{t, point, {access->cell, access->first}, n};
        if (access->instruction->op == Op::wait) {
            machine.any_awaited(state, t, *access->instruction, [&](Value v) {
                stand.operands.push_back(v);
                return false;
            });
        }
        auto const at = numbers_.find({t, point, stand.operands});
        if (at != numbers_.end()) return at->second;
        std::tuple key{t, point, stand.operands};
        auto const number = static_cast<StandNumber>(add(std::move(stand)));
        numbers_.emplace(std::move(key), number);
        return number;
    }

    std::size_t size() const { return stands_.size(); }
    Stand const& operator[](std::size_t n) const { return stands_[n]; }

  private:
    static constexpr std::uint32_t unnumbered = UINT32_MAX;

    std::uint32_t add(Stand stand) {
        if (stands_.size() > UINT16_MAX) throw TooManyStands();
        stands_.push_back(std::move(stand));
        return static_cast<std::uint32_t>(stands_.size() - 1);
    }

    std::vector<std::vector<bool>> depends_;         // per thread and point: on operands
    std::vector<std::vector<std::uint32_t>> fixed_;  // per thread and point
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::vector<Value>>, StandNumber> numbers_;
    std::vector<Stand> stands_;
};

// Explored breadth first, so that node n's steps stand after those of node n - 1.
template <bool with_modes>
class ProgramGraph {
  public:
    using Monitor = LabelMonitor<with_modes>;

    ProgramGraph(Program const& program, std::optional<PersistentSets> reduction, MemoryBudget& memory)
        : threads_(program.threads.size()),
          machine_(program),
          symmetry_(machine_),
          store_(machine_.key_words(), machine_.key_words(), memory.left()),
          expansion_(machine_, symmetry_, std::move(reduction)),
          stands_(program),
          nodes_(memory, 1 + (threads_ + 3) / 4),
          edges_(memory, 1) {}

    // Explores a few more states; false when there are none.
    bool grow() {
        if (!started_) {
            started_ = true;
            expansion_.start();
            store_successors(false);
            return true;
        }
        if (nodes_.size() == store_.size()) return false;
        while (nodes_.size() < store_.size() && expansion_.successors().size() < batch)
            expand(static_cast<StateNumber>(nodes_.size()));
        store_successors(true);
        return true;
    }

    std::size_t size() const { return store_.size(); }
    std::size_t expanded() const { return nodes_.size(); }
    std::size_t edges() const { return edges_.size(); }
    std::size_t store_bytes() const { return store_.memory().used(); }
    std::size_t peak_store_bytes() const { return store_.memory().peak(); }

    std::size_t first_edge(StateNumber n) const { return n < nodes_.size() ? nodes_[n][0] : edges_.size(); }
    GraphEdge edge(std::size_t number) const { return std::bit_cast<GraphEdge>(*edges_[number]); }
    StandNumber stand(StateNumber n, std::uint32_t t) const {
        return static_cast<StandNumber>(nodes_[n][1 + t / 4] >> (t % 4 * 16));
    }
    Stands const& stands() const { return stands_; }
    Labels const& labels() const { return machine_.monitor().labels(); }
    Machine<Monitor> const& machine() const { return machine_; }
    Symmetry<Monitor> const& symmetry() const { return symmetry_; }
    Findings& findings() { return expansion_.findings(); }
    Origin origin(StateNumber n) const { return store_.origin(n); }
    void load(StateNumber n, Word* state) const { store_.load(n, state); }

    // By which thread and as which of its successors an edge of n was made.
    Origin origin_of_edge(StateNumber n, std::size_t number) {
        expansion_.clear_successors();
        take_up(n);
        expansion_.step(n);
        auto const origin = expansion_.origins()[number - first_edge(n)];
        expansion_.clear_successors();
        return origin;
    }

  private:
    static constexpr std::size_t batch = 32;  // successors hashed and prefetched together

    void take_up(StateNumber n) {
        store_.load(n, expansion_.state());
        machine_.monitor().forget(expansion_.state());
        expansion_.check(n);
    }

    void expand(StateNumber n) {
        take_up(n);
        Word* const node = nodes_.append();
        node[0] = edges_.size() + expansion_.successors().size();
        for (std::uint32_t t = 0; t < threads_; ++t) {
            Word const stand = stands_.number(machine_, expansion_.state(), n, t, expansion_.accesses()[t]);
            node[1 + t / 4] |= stand << (t % 4 * 16);
        }
        expansion_.step(n);
    }

    // In three passes, as in search.hpp.
    void store_successors(bool with_edges) {
        auto& successors = expansion_.successors();
        auto const count = successors.size();
        hashes_.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            hashes_[i] = store_.hash(successors[i]);
            store_.prefetch_slot(hashes_[i]);
        }
        for (std::size_t i = 0; i < count; ++i) store_.prefetch_state(hashes_[i]);
        for (std::size_t i = 0; i < count; ++i) {
            auto const number = store_.put(successors[i], hashes_[i], expansion_.origins()[i]);
            if (!with_edges) continue;
            *edges_.append() =
                std::bit_cast<Word>(GraphEdge{number, machine_.monitor().label(successors[i])});
        }
        expansion_.clear_successors();
    }

    std::size_t threads_;
    Machine<Monitor> machine_;
    Symmetry<Monitor> symmetry_;
    ExactStore store_;
    Expansion<Monitor> expansion_;
    Stands stands_;
    Arena nodes_;  // the number of the first edge, then where the threads stand
    Arena edges_;
    std::vector<std::uint64_t> hashes_;
    bool started_ = false;
};

}  // namespace holdfast
