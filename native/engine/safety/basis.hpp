// The states of the backward search that are kept: the minimal ones among those met, and how each leads to a
// bad one.
//
// A state is looked up by where its threads stand, once for each set of threads that stand anywhere in some
// state, and by two of its options. If a state is below another, its options are among those of the other, so
// only states with the right two options need to be compared.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/safety/joint_nodes.hpp"
#include "engine/safety/option_lists.hpp"

namespace fencepost {

using ItemNumber = std::uint32_t;
constexpr ItemNumber no_item = UINT32_MAX;

// The step from a state towards a bad one; `after` is the state it leads to, none for a bad state itself.
struct BackStep {
    ItemNumber after = no_item;
    std::uint32_t thread = 0, edge = 0, writer = 0;
};

class Basis {
  public:
    // Without `subsumption`, states are merged only if they are equal.
    Basis(ThreadGraphs const& graphs, OptionLists const& lists, bool subsumption);

    // Whether a kept state is below this one.
    bool covers(PotentialState const& state) { return is_covered(state, no_item); }
    // Keeps a state that is not covered; it waits for its predecessors to be searched.
    ItemNumber keep(PotentialState const& state, BackStep const& step);
    // The next state to go back from: the youngest of those with the fewest options; none if none waits.
    // States that are covered by now are dropped.
    ItemNumber next();
    // Whether it has not been dropped.
    bool has(ItemNumber item) const { return items_[item].kept; }

    PotentialState load(ItemNumber item) const;
    BackStep const& step(ItemNumber item) const { return items_[item].step; }

    // The states of the basis, once nothing waits any more: those that no other is below.
    std::vector<ItemNumber> minimal();

    std::size_t met() const { return items_.size(); }
    std::size_t kept() const { return kept_; }
    std::size_t waiting() const { return waiting_; }
    std::size_t longest() const { return longest_; }
    std::size_t bytes() const;

  private:
    struct Item {
        TupleNumber tuple;
        bool kept;
        BackStep step;
        std::uint64_t
            begin;  // of its potentials in `potentials_`: for each the number of its lists, then these
    };
    struct Entry {
        std::uint64_t signature;
        ItemNumber item;
    };
    // What a state is looked up by: its options by holder and source, and a bit for each of them.
    struct Options {
        std::vector<std::uint32_t> all;
        std::uint64_t signature = 0;
    };
    // The states at one tuple that are looked up by the same two options.
    struct Group {
        std::uint32_t first, second;
        std::uint64_t signature;  // of these two
        std::vector<Entry> entries;
    };
    using Saved = std::uint32_t const*;

    bool is_covered(PotentialState const& state, ItemNumber except);
    bool is_dropped(ItemNumber item);
    Options options_of(PotentialState const& state) const;
    Group& group_of(TupleNumber tuple, Options const& options);
    Saved flattened(PotentialState const& state);
    Saved saved(ItemNumber item) const { return potentials_.data() + items_[item].begin; }
    bool is_below(Saved a, Saved b) const;
    bool is_same(Saved a, Saved b) const;

    ThreadGraphs const& graphs_;
    OptionLists const& lists_;
    bool subsumption_;
    JointNodes tuples_;                 // with the phase
    std::vector<std::uint64_t> masks_;  // of threads that stand anywhere in some state
    std::vector<Item> items_;
    std::vector<std::uint32_t> potentials_;
    std::vector<std::vector<Group>> groups_;      // per tuple
    std::vector<std::vector<ItemNumber>> queue_;  // by the number of options
    std::vector<std::uint32_t> flat_;
    std::size_t kept_ = 0, waiting_ = 0, longest_ = 0;
};

}  // namespace fencepost
