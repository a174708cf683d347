#include "engine/state/layout.hpp"

#include <bit>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace fencepost {

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

void BitPairs::add(Field const& a, Field const& b, Word value) {
    Word const bits = value << a.shift;
    int const rotation = static_cast<int>((a.shift - b.shift) & 63);
    for (auto& p : pairs_) {
        if (p.first == a.word && p.second == b.word && p.rotation == rotation) {
            p.bits |= bits;
            return;
        }
    }
    pairs_.push_back({a.word, b.word, rotation, bits});
}

void BitSwaps::add(Field const& a, Field const& b) {
    for (Word bits = a.mask; bits != 0; bits &= bits - 1) {
        Word const bit = bits & -bits;
        add(a, bit, b, bit);
    }
}

void BitSwaps::add(Field const& a, Word bit_of_a, Field const& b, Word bit_of_b) {
    Word const first = bit_of_a << a.shift;
    Word const second = bit_of_b << b.shift;
    if (a.word == b.word && first == second) return;
    if (std::pair(b.word, second) < std::pair(a.word, first)) return add(b, bit_of_b, a, bit_of_a);
    int const distance = (std::countr_zero(second) - std::countr_zero(first) + 64) % 64;
    for (auto& s : swaps_) {
        if (s.first == a.word && s.second == b.word && s.distance == distance) {
            s.bits |= first;
            return;
        }
    }
    swaps_.push_back({a.word, b.word, distance, first});
}

void BitPermutation::add(Field const& a, Word bit_of_a, Field const& b, Word bit_of_b) {
    auto const bit = [](Field const& field, Word of) {
        return Bit{field.word, static_cast<std::uint32_t>(std::countr_zero(of << field.shift))};
    };
    to_.insert_or_assign(bit(a, bit_of_a), bit(b, bit_of_b));
}

void BitPermutation::add(Field const& a, Field const& b) {
    for (Word bits = a.mask; bits != 0; bits &= bits - 1) add(a, bits & -bits, b, bits & -bits);
}

// To turn a circle by one place is to reflect it twice: n goes to -n, and -n to 1 - -n.
void BitPermutation::finish() {
    auto const swap = [](BitSwaps& swaps, Bit const& a, Bit const& b) {
        auto const word = [](Bit const& bit) { return Field{~Word{0}, bit.first, 0}; };
        swaps.add(word(a), Word{1} << a.second, word(b), Word{1} << b.second);
    };
    while (!to_.empty()) {
        std::vector<Bit> circle{to_.begin()->first};
        for (auto at = to_.begin(); at != to_.end(); at = to_.find(circle.back())) {
            auto const next = at->second;
            to_.erase(at);
            circle.push_back(next);
        }
        if (circle.front() != circle.back()) throw std::invalid_argument("moves that are no permutation");
        circle.pop_back();
        auto const size = circle.size();
        for (std::size_t n = 0; n < size; ++n) {
            swap(first_, circle[n], circle[(size - n) % size]);
            swap(second_, circle[n], circle[(size + 1 - n) % size]);
        }
    }
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

std::vector<Field> Layout::allocate_together(std::span<unsigned const> sizes) {
    std::vector<Field> fields;
    auto const all = std::accumulate(sizes.begin(), sizes.end(), 0u);
    if (all > word_bits) {
        for (auto bits : sizes) fields.push_back(allocate(bits));
        return fields;
    }
    auto next = allocate(all);
    for (auto bits : sizes) {
        fields.push_back(bits == 0 ? Field{} : Field{low_bits(bits), next.word, next.shift});
        next.shift += bits;
    }
    return fields;
}

unsigned bits_for(std::uint64_t largest) {
    return static_cast<unsigned>(std::bit_width(largest));
}

SetArray::SetArray(Layout& layout, std::size_t count, std::span<unsigned const> piece_bits)
    : piece_bits_(piece_bits.begin(), piece_bits.end()), whole_(count) {
    for (std::size_t set = 0; set < count; ++set) add(layout, piece_bits.size());
}

void SetArray::add_shorter(Layout& layout, std::size_t count, std::size_t pieces) {
    shorter_ = count;
    short_pieces_ = pieces;
    for (std::size_t set = 0; set < count; ++set) add(layout, pieces);
}

void SetArray::add(Layout& layout, std::size_t pieces) {
    for (std::size_t p = 0; p < piece_bits_.size(); ++p)
        fields_.push_back(p < pieces ? layout.allocate(piece_bits_[p]) : Field{});
}

}  // namespace fencepost
