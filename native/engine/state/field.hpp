// A state is a row of words. Fields and masks name some of their bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fencepost {

using Word = std::uint64_t;

// States have few words: loops are faster than calls of memcpy and memcmp.
inline void copy_words(Word* to, Word const* from, std::size_t count) {
    for (std::size_t i = 0; i + 1 < count; i += 2) {
        Word const first = from[i], second = from[i + 1];
        to[i] = first;
        to[i + 1] = second;
    }
    if (count % 2 != 0) to[count - 1] = from[count - 1];
}
inline bool same_words(Word const* a, Word const* b, std::size_t count) {
    Word difference = 0;
    for (std::size_t i = 0; i + 1 < count; i += 2) difference |= (a[i] ^ b[i]) | (a[i + 1] ^ b[i + 1]);
    if (count % 2 != 0) difference |= a[count - 1] ^ b[count - 1];
    return difference == 0;
}

// Some bits of one word of a state.
struct WordMask {
    std::uint32_t word;
    Word bits;
};

inline void set_bits(Word* state, WordMask const& m) {
    state[m.word] |= m.bits;
}
inline void clear_bits(Word* state, WordMask const& m) {
    state[m.word] &= ~m.bits;
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
    // Some of its bits, given before shifting.
    WordMask bits(Word some) const { return {word, some << shift}; }
};

}  // namespace fencepost
