// A store that tells states apart bit by bit, like ExactStore, in less memory: tree compression.
//
// Most states differ from each other in few words. The words of a state are the leaves of a tree; each
// different word gets a number, and so does each different pair of numbers, up to the root. A state is the
// pair at the root and its origin, 16 bytes; everything below is shared. (Laarman, van de Pol, Weber 2011.)
#pragma once

#include <deque>

#include "engine/state/store.hpp"

namespace fencepost {

class CompressedStore {
  public:
    CompressedStore(std::size_t words, std::size_t key_words, std::size_t most_bytes);

    std::uint64_t hash(Word const* state) const { return hash_words(state, words_); }
    void prefetch_slot(std::uint64_t) const {}
    void prefetch_state(std::uint64_t) const {}
    bool insert(Word const* state, std::uint64_t hash, Origin origin);
    bool load(StateNumber n, Word* state) const;
    Origin origin(StateNumber n) const;
    std::size_t elements(Word const*) const { return 0; }

    std::size_t size() const { return origins_.size(); }
    MemoryBudget const& memory() const { return memory_; }

  private:
    // Numbers for the different values, words or pairs, that are met at one node of the tree.
    struct Node {
        explicit Node(MemoryBudget& budget) : values(budget, 1), table(budget) {}
        std::uint32_t number_of(Word value);
        Arena values;
        HashTable table;
    };

    // A tree as in a heap: the root is node 1, the children of node n are 2n and 2n + 1, the leaves are the
    // last `words_` nodes.
    Node& node(std::size_t n) { return nodes_[n - 1]; }
    Node const& node(std::size_t n) const { return nodes_[n - 1]; }

    MemoryBudget memory_;
    std::size_t words_;
    std::deque<Node> nodes_;
    Arena origins_;
    std::vector<std::uint32_t> numbers_;           // at each node, of the state being inserted
    mutable std::vector<std::uint32_t> unpacked_;  // … being loaded
};

}  // namespace fencepost
