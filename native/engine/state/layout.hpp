// Where each component of a state stands in its packed words.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
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
        if (piece_bits_.empty() || piece_bits_.back() == 64) piece_bits_.push_back(0);
        return {static_cast<std::uint32_t>(piece_bits_.size() - 1), Word{1} << piece_bits_.back()++};
    }
    std::vector<unsigned> const& piece_bits() const { return piece_bits_; }

  private:
    std::vector<unsigned> piece_bits_;
};

// An array of bit sets of one size. A set longer than a word is split in pieces of at most a word.
class SetArray {
  public:
    SetArray() = default;
    // `piece_bits` gives the length of each piece; every set of the array is split alike.
    SetArray(Layout& layout, std::size_t count, std::span<unsigned const> piece_bits);

    std::size_t pieces() const { return pieces_; }
    std::size_t count() const { return count_; }
    Field const* operator[](std::size_t set) const { return fields_.data() + set * pieces_; }

    void copy(Word* state, std::size_t to, SetArray const& source, std::size_t from) const {
        for (std::size_t p = 0; p < pieces_; ++p) (*this)[to][p].set(state, source[from][p].get(state));
    }
    void unite(Word* state, std::size_t to, SetArray const& source, std::size_t from) const {
        for (std::size_t p = 0; p < pieces_; ++p) (*this)[to][p].unite(state, source[from][p].get(state));
    }
    void intersect(Word* state, std::size_t to, SetArray const& source, std::size_t from) const {
        for (std::size_t p = 0; p < pieces_; ++p) (*this)[to][p].intersect(state, source[from][p].get(state));
    }
    void copy(Update& update, std::size_t to, SetArray const& source, std::size_t from) const {
        for (std::size_t p = 0; p < pieces_; ++p) update.copy((*this)[to][p], source[from][p]);
    }
    void unite(Update& update, std::size_t to, SetArray const& source, std::size_t from) const {
        for (std::size_t p = 0; p < pieces_; ++p) update.unite((*this)[to][p], source[from][p]);
    }
    void intersect(Update& update, std::size_t to, SetArray const& source, std::size_t from) const {
        for (std::size_t p = 0; p < pieces_; ++p) update.intersect((*this)[to][p], source[from][p]);
    }

  private:
    std::size_t count_ = 0, pieces_ = 0;
    std::vector<Field> fields_;
};

}  // namespace fencepost
