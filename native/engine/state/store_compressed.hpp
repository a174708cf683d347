// A store that tells states apart bit by bit, like ExactStore, in less memory: tree compression.
//
// Most states differ from each other in few words. The words of a state are the leaves of a tree; each
// different word gets a number, and so does each different pair of numbers, up to the root. A state is the
// pair at the root; everything below is shared. (Laarman, van de Pol, Weber 2011.) Pairs and origins are
// packed, and an index finds them (packed_records.hpp, number_index.hpp): a state takes 10 to 12 bytes if
// what is shared does not count. Small states are cut into half words, so that there is something to share.
#pragma once

#include <deque>

#include "engine/state/number_index.hpp"
#include "engine/state/packed_records.hpp"
#include "engine/state/store.hpp"

namespace fencepost {

class CompressedStore {
  public:
    CompressedStore(std::size_t words, std::size_t key_words, std::size_t most_bytes);

    std::uint64_t hash(Word const* state) const { return hash_words(state, words_); }
    void prefetch_slot(std::uint64_t) const {}
    void prefetch_state(std::uint64_t) const {}
    bool insert(Word const* state, std::uint64_t hash, Origin origin) {
        auto const number = size();
        return put(state, hash, origin) == number;
    }
    // The number of the state, new or not.
    StateNumber put(Word const* state, std::uint64_t hash, Origin origin);
    bool load(StateNumber n, Word* state) const;
    Origin origin(StateNumber n) const { return origins_.get(n); }
    std::size_t elements(Word const*) const { return 0; }

    std::size_t size() const { return origins_.size(); }
    MemoryBudget const& memory() const { return memory_; }
    // Sets another limit.
    void allow(std::size_t most_bytes) { memory_.allow(most_bytes); }

  private:
    // Numbers for the different values, words or pairs, that are met at one node of the tree.
    class Node {
      public:
        Node(MemoryBudget& budget, bool is_leaf)
            : is_leaf_(is_leaf), values_(budget, is_leaf ? 1 : 2), index_(budget) {}
        std::uint32_t number_of(Word value);
        Word value(std::uint32_t n) const {
            return is_leaf_ ? values_.get(n, 0) : values_.get(n, 0) << 32 | values_.get(n, 1);
        }

      private:
        bool is_leaf_;
        PackedRecords values_;
        NumberIndex index_;
    };

    // A tree as in a heap: the root is node 1, the children of node n are 2n and 2n + 1, the leaves are the
    // last `leaves_` nodes.
    Node& node(std::size_t n) { return nodes_[n - 1]; }
    Node const& node(std::size_t n) const { return nodes_[n - 1]; }
    Word leaf(Word const* state, std::size_t i) const {
        return leaves_ == words_ ? state[i] : state[i / 2] >> (i % 2 * 32) & UINT32_MAX;
    }

    static constexpr std::size_t most_words_to_cut = 2;

    MemoryBudget memory_;
    std::size_t words_, leaves_;
    std::deque<Node> nodes_;
    PackedOrigins origins_;
    // Of the state that was put in last: the values of its leaves, and the numbers at each node. The next one
    // often is its sibling, and has most of them too.
    std::vector<Word> last_leaves_;
    std::vector<std::uint32_t> numbers_;
    std::vector<bool> changed_;                    // at each node, against the last state
    mutable std::vector<std::uint32_t> unpacked_;  // of the state being loaded
};

}  // namespace fencepost
