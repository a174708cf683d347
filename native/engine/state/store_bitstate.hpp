// A store that forgets states: of each it keeps how it was reached, and a few bits in a large array, chosen
// by its hash. Two states with the same bits are taken for one, so a search may miss states: it can find
// something, but not show that there is nothing (Holzmann 1998). Another seed confuses other states.
#pragma once

#include <unordered_map>

#include "engine/state/store.hpp"

namespace fencepost {

// How searches of one program that forget states, or go at random, differ from each other.
struct Variation {
    std::uint64_t seed = 0;                           // of the hash, and of random choices
    std::uint32_t bits_per_state = 3;                 // set for each state
    std::uint32_t deepest = UINT32_MAX;               // a search at random turns back after so many steps
    std::size_t bits_bytes = std::size_t{128} << 20;  // at most; and at most a quarter of the memory
};

class BitstateStore {
  public:
    BitstateStore(std::size_t words, std::size_t key_words, std::size_t most_bytes,
                  Variation const& variation);

    std::uint64_t hash(Word const* state) const {
        auto const mixed = (hash_words(state, words_) ^ seed_) * 0xbf58476d1ce4e5b9u;
        return mixed ^ mixed >> 31;
    }
    void prefetch_slot(std::uint64_t hash) const { __builtin_prefetch(&word_of(hash)); }
    void prefetch_state(std::uint64_t) const {}
    bool insert(Word const* state, std::uint64_t hash, Origin origin);
    // Gives a state back, once.
    bool load(StateNumber n, Word* state);
    Origin origin(StateNumber n) const { return as_origin(*origins_[n]); }
    std::size_t elements(Word const*) const { return 0; }

    // The share of bits that are set: the chance, for each bit of a new state, that it is set already.
    double bits_used() const { return static_cast<double>(set_) / static_cast<double>(mask_ + 1); }

    std::size_t size() const { return origins_.size(); }
    MemoryBudget const& memory() const { return memory_; }

  private:
    Word& word_of(std::uint64_t bit) const { return bits_.as<Word>()[(bit & mask_) / 64]; }

    MemoryBudget memory_;
    std::size_t words_;
    std::uint64_t seed_;
    std::uint32_t bits_per_state_;
    std::uint64_t mask_;     // how many bits there are, less one
    std::uint64_t set_ = 0;  // how many of them are set
    Pages bits_;
    Arena origins_;
    Arena waiting_;                                            // states that were not given back yet
    std::unordered_map<StateNumber, std::size_t> waiting_at_;  // where they are there
    std::vector<std::size_t> unused_;                          // records there that are free again
};

}  // namespace fencepost
