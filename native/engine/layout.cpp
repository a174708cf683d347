#include "engine/layout.hpp"

#include <bit>
#include <stdexcept>
#include <string>

namespace holdfast {

namespace {

constexpr unsigned word_bits = 64;
constexpr std::size_t most_words = (std::size_t{64} << 10) / sizeof(Word);

Word low_bits(unsigned bits) {
    return bits >= word_bits ? ~Word{0} : (Word{1} << bits) - 1;
}

}  // namespace

void BitSelection::add(Field const& field, Word value) {
    Word const bits = value << field.shift;
    if (bits == 0) return;
    for (auto& m : masks_) {
        if (m.word == field.word) {
            m.bits |= bits;
            return;
        }
    }
    masks_.push_back({field.word, bits});
}

Field Layout::allocate(unsigned bits) {
    if (bits == 0) return Field{};
    if (bits > word_bits) throw std::invalid_argument("a field is at most one word");
    std::size_t word = open_from_;
    while (word < used_bits_.size() && used_bits_[word] + bits > word_bits) ++word;
    if (word == used_bits_.size()) {
        if (word == most_words) {
            throw std::invalid_argument("a state of this program needs more than " +
                                        std::to_string(most_words * sizeof(Word)) +
                                        " bytes: use fewer threads, locations, or values");
        }
        used_bits_.push_back(0);
    }
    Field const field{low_bits(bits), static_cast<std::uint32_t>(word), used_bits_[word]};
    used_bits_[word] += bits;
    while (open_from_ < used_bits_.size() && used_bits_[open_from_] == word_bits) ++open_from_;
    return field;
}

unsigned bits_for(std::uint64_t largest) {
    return static_cast<unsigned>(std::bit_width(largest));
}

SetArray::SetArray(Layout& layout, std::size_t count, std::span<unsigned const> piece_bits)
    : pieces_(piece_bits.size()) {
    fields_.reserve(count * pieces_);
    for (std::size_t set = 0; set < count; ++set) {
        for (unsigned bits : piece_bits) fields_.push_back(layout.allocate(bits));
    }
}

}  // namespace holdfast
