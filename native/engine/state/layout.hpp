// Where each component of a state stands in its packed words.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "engine/state/field.hpp"
#include "engine/state/update.hpp"

namespace fencepost {

// Bits anywhere in a state, one entry per word.
class BitSelection {
  public:
    void add(Field const& field, Word value);
    // In a state, or in an update of states.
    void set(auto& state) const {
        for (auto const& m : masks_) set_bits(state, m);
    }
    void clear(auto& state) const {
        for (auto const& m : masks_) clear_bits(state, m);
    }
    bool any(Word const* state) const {
        for (auto const& m : masks_) {
            if ((state[m.word] & m.bits) != 0) return true;
        }
        return false;
    }
    std::span<WordMask const> masks() const { return masks_; }

  private:
    std::vector<WordMask> masks_;
};

// Pairs of bits anywhere in a state. Pairs in the same two words at the same distance share an entry.
class BitPairs {
  public:
    // Some bits, given before shifting, of two fields of one size.
    void add(Field const& a, Field const& b, Word value);
    bool empty() const { return pairs_.empty(); }
    // Whether both bits of some pair are set.
    bool any(Word const* state) const {
        for (auto const& p : pairs_) {
            if ((state[p.first] & std::rotl(state[p.second], p.rotation) & p.bits) != 0) return true;
        }
        return false;
    }

  private:
    struct Pairs {
        std::uint32_t first, second;  // words
        int rotation;                 // of the second
        Word bits;                    // in the first
    };
    std::vector<Pairs> pairs_;
};

// Pairs of bits of a state that are swapped; a pair may be given twice. Pairs in the same two words at the
// same distance are swapped together.
class BitSwaps {
  public:
    // All bits of two fields of one size.
    void add(Field const& a, Field const& b);
    // Single bits of two fields, given before shifting.
    void add(Field const& a, Word bit_of_a, Field const& b, Word bit_of_b);
    void apply(Word* state) const {
        for (auto const& s : swaps_) {
            Word const different = (state[s.first] ^ std::rotr(state[s.second], s.distance)) & s.bits;
            state[s.first] ^= different;
            state[s.second] ^= std::rotl(different, s.distance);
        }
    }

  private:
    struct Swap {
        std::uint32_t first, second;  // words
        int distance;                 // from a bit in the first to its partner in the second
        Word bits;                    // in the first
    };
    std::vector<Swap> swaps_;
};

// A permutation of bits of a state. Any permutation is two rounds of swaps, one after the other.
class BitPermutation {
  public:
    // What a bit of a, given before shifting, holds goes to a bit of b; a move may be given twice.
    void add(Field const& a, Word bit_of_a, Field const& b, Word bit_of_b);
    // All bits of a field go to one of the same size.
    void add(Field const& a, Field const& b);
    // To be called when all moves are known: bits that nothing was said about stay.
    void finish();
    void apply(Word* state) const {
        first_.apply(state);
        second_.apply(state);
    }

  private:
    using Bit = std::pair<std::uint32_t, std::uint32_t>;  // word, and number there

    std::map<Bit, Bit> to_;
    BitSwaps first_, second_;
};

// Hands out fields so that none straddles two words.
class Layout {
  public:
    // Throws std::invalid_argument when the state gets larger than the engine takes.
    Field allocate(unsigned bits);
    // Fields of these sizes, in one word if they fit into one.
    std::vector<Field> allocate_together(std::span<unsigned const> sizes);
    // Later fields go into new words: the words so far are a part of the state of their own.
    void close_words() { open_from_ = used_bits_.size(); }
    std::size_t words() const { return used_bits_.size(); }

  private:
    std::vector<unsigned> used_bits_;  // per word
    std::size_t open_from_ = 0;        // all words before are full or closed
};

unsigned bits_for(std::uint64_t largest);

// Numbers the elements of a bit set, in pieces of a word each.
class BitNumbering {
  public:
    struct Bit {
        std::uint32_t piece;
        Word bit;
    };
    Bit next() {
        if (piece_bits_.empty() || piece_bits_.back() == 64 || begins_) piece_bits_.push_back(0);
        begins_ = false;
        return {static_cast<std::uint32_t>(piece_bits_.size() - 1), Word{1} << piece_bits_.back()++};
    }
    // The next element is in a new piece.
    void begin_piece() { begins_ = true; }
    std::vector<unsigned> const& piece_bits() const { return piece_bits_; }

  private:
    std::vector<unsigned> piece_bits_;
    bool begins_ = false;
};

// An array of bit sets. A set longer than a word is split in pieces of at most a word. All sets are split
// alike, but the last ones may have only the first pieces. What is done to a set by another is done in the
// pieces that both have.
class SetArray {
  public:
    SetArray() = default;
    // `piece_bits` gives the length of each piece.
    SetArray(Layout& layout, std::size_t count, std::span<unsigned const> piece_bits);
    // Adds sets that have this many pieces.
    void add_shorter(Layout& layout, std::size_t count, std::size_t pieces);

    std::size_t count() const { return whole_ + shorter_; }
    std::size_t pieces(std::size_t set) const { return set < whole_ ? piece_bits_.size() : short_pieces_; }
    Field const* operator[](std::size_t set) const { return fields_.data() + set * piece_bits_.size(); }

    void copy(Word* state, std::size_t to, std::size_t from) const {
        each_piece(to, from, [state](Field const& a, Field const& b) { a.set(state, b.get(state)); });
    }
    void unite(Word* state, std::size_t to, std::size_t from) const {
        each_piece(to, from, [state](Field const& a, Field const& b) { a.unite(state, b.get(state)); });
    }
    void intersect(Word* state, std::size_t to, std::size_t from) const {
        each_piece(to, from, [state](Field const& a, Field const& b) { a.intersect(state, b.get(state)); });
    }
    void copy(Update& update, std::size_t to, std::size_t from) const {
        each_piece(to, from, [&update](Field const& a, Field const& b) { update.copy(a, b); });
    }
    void unite(Update& update, std::size_t to, std::size_t from) const {
        each_piece(to, from, [&update](Field const& a, Field const& b) { update.unite(a, b); });
    }
    void intersect(Update& update, std::size_t to, std::size_t from) const {
        each_piece(to, from, [&update](Field const& a, Field const& b) { update.intersect(a, b); });
    }

  private:
    void add(Layout& layout, std::size_t pieces);
    template <class Action>
    void each_piece(std::size_t to, std::size_t from, Action action) const {
        auto const common = std::min(pieces(to), pieces(from));
        for (std::size_t p = 0; p < common; ++p) action((*this)[to][p], (*this)[from][p]);
    }

    std::vector<unsigned> piece_bits_;
    std::size_t whole_ = 0, shorter_ = 0;  // how many sets
    std::size_t short_pieces_ = 0;
    std::vector<Field> fields_;  // per set and piece
};

}  // namespace fencepost
