#include "engine/layout.hpp"

#include <bit>
#include <stdexcept>

namespace holdfast {

namespace {

constexpr unsigned word_bits = 64;

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
    if (word == used_bits_.size()) used_bits_.push_back(0);
    Field const field{low_bits(bits), static_cast<std::uint32_t>(word), used_bits_[word]};
    used_bits_[word] += bits;
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
