// Where each component of a state stands in its packed words.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace holdfast {

using Word = std::uint64_t;

// States have few words: a loop is faster than a call of memcmp.
inline bool same_words(Word const* a, Word const* b, std::size_t count) {
    Word difference = 0;
    for (std::size_t i = 0; i < count; ++i) difference |= a[i] ^ b[i];
    return difference == 0;
}

// Up to 64 bits inside one word of a state.
struct Field {
    Word mask = 0;  // before shifting
    std::uint32_t word = 0;
    std::uint32_t shift = 0;

    Word get(Word const* state) const { return (state[word] >> shift) & mask; }
    void set(Word* state, Word value) const {
        state[word] = (state[word] & ~(mask << shift)) | (value << shift);
    }
    void unite(Word* state, Word value) const { state[word] |= value << shift; }
    void intersect(Word* state, Word value) const { state[word] &= ~(mask << shift) | (value << shift); }
};

// Some bits of one word of a state.
struct WordMask {
    std::uint32_t word;
    Word bits;
};

// Bits anywhere in a state, to be set or cleared together: one entry per word.
class BitSelection {
  public:
    void add(Field const& field, Word value);
    void set(Word* state) const {
        for (auto const& m : masks_) state[m.word] |= m.bits;
    }
    void clear(Word* state) const {
        for (auto const& m : masks_) state[m.word] &= ~m.bits;
    }

  private:
    std::vector<WordMask> masks_;
};

// Bits of a state that change places with each other, pair by pair; a pair may be given twice. Pairs of the
// same two words and the same distance are exchanged together.
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
    // Later fields go into new words, so that a part of the state can be told apart.
    void close_words() { open_from_ = used_bits_.size(); }
    std::size_t words() const { return used_bits_.size(); }

  private:
    std::vector<unsigned> used_bits_;  // per word
    std::size_t open_from_ = 0;        // all words before are full or closed
};

unsigned bits_for(std::uint64_t largest);

// Numbers the elements of a bit set one after the other over pieces of a word each.
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

  private:
    std::size_t count_ = 0, pieces_ = 0;
    std::vector<Field> fields_;
};

}  // namespace holdfast
