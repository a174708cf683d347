#include "engine/state/store_compressed.hpp"

namespace fencepost {

CompressedStore::CompressedStore(std::size_t words, std::size_t, std::size_t most_bytes)
    : memory_(most_bytes), words_(words), origins_(memory_, 1), numbers_(2 * words), unpacked_(2 * words) {
    for (std::size_t n = 1; n < 2 * words_; ++n) nodes_.emplace_back(memory_);
}

std::uint32_t CompressedStore::Node::number_of(Word value) {
    table.reserve_one();
    auto const hash = hash_words(&value, 1);
    auto const found = table.find(hash, [&](std::uint32_t n) { return *values[n] == value; });
    if (found != no_state) return found;
    auto const number = static_cast<std::uint32_t>(values.size());
    *values.append() = value;
    table.add(hash, number);
    return number;
}

bool CompressedStore::insert(Word const* state, std::uint64_t, Origin origin) {
    auto const known = node(1).values.size();
    for (std::size_t n = 2 * words_ - 1; n >= 1; --n) {
        bool const leaf = n >= words_;
        auto const pair = [&] { return static_cast<Word>(numbers_[2 * n]) << 32 | numbers_[2 * n + 1]; };
        numbers_[n] = node(n).number_of(leaf ? state[n - words_] : pair());
    }
    if (node(1).values.size() == known) return false;
    *origins_.append() = as_word(origin);
    return true;
}

bool CompressedStore::load(StateNumber n, Word* state) const {
    unpacked_[1] = n;
    for (std::size_t i = 1; i < 2 * words_; ++i) {
        Word const value = *node(i).values[unpacked_[i]];
        if (i >= words_) {
            state[i - words_] = value;
        } else {
            unpacked_[2 * i] = static_cast<std::uint32_t>(value >> 32);
            unpacked_[2 * i + 1] = static_cast<std::uint32_t>(value);
        }
    }
    return true;
}

Origin CompressedStore::origin(StateNumber n) const {
    return as_origin(*origins_[n]);
}

}  // namespace fencepost
