#include "engine/state/store_compressed.hpp"

namespace fencepost {

CompressedStore::CompressedStore(std::size_t words, std::size_t, std::size_t most_bytes)
    : memory_(most_bytes),
      words_(words),
      leaves_(words <= most_words_to_cut ? 2 * words : words),
      origins_(memory_),
      last_leaves_(leaves_),
      numbers_(2 * leaves_),
      changed_(2 * leaves_),
      unpacked_(2 * leaves_) {
    for (std::size_t n = 1; n < 2 * leaves_; ++n) nodes_.emplace_back(memory_, n >= leaves_);
}

std::uint32_t CompressedStore::Node::number_of(Word value) {
    auto const hash_of = [&](std::uint32_t n) {
        Word const known = this->value(n);
        return hash_words(&known, 1);
    };
    index_.reserve_one(hash_of);
    auto const hash = hash_words(&value, 1);
    auto const found = index_.find(hash, [&](std::uint32_t n) { return this->value(n) == value; });
    if (found != no_state) return found;
    auto const number = static_cast<std::uint32_t>(values_.size());
    if (is_leaf_) {
        values_.append({value});
    } else {
        values_.append({value >> 32, value & UINT32_MAX});
    }
    index_.add(hash);
    return number;
}

StateNumber CompressedStore::put(Word const* state, std::uint64_t, Origin origin) {
    bool const is_first = size() == 0;
    for (std::size_t n = 2 * leaves_ - 1; n >= 1; --n) {
        if (n >= leaves_) {
            auto const value = leaf(state, n - leaves_);
            changed_[n] = is_first || value != last_leaves_[n - leaves_];
            if (changed_[n]) numbers_[n] = node(n).number_of(last_leaves_[n - leaves_] = value);
        } else {
            changed_[n] = changed_[2 * n] || changed_[2 * n + 1];
            Word const pair = static_cast<Word>(numbers_[2 * n]) << 32 | numbers_[2 * n + 1];
            if (changed_[n]) numbers_[n] = node(n).number_of(pair);
        }
    }
    if (numbers_[1] == size()) origins_.append(origin);
    return numbers_[1];
}

bool CompressedStore::load(StateNumber n, Word* state) const {
    if (leaves_ != words_) std::fill_n(state, words_, 0);
    unpacked_[1] = n;
    for (std::size_t i = 1; i < 2 * leaves_; ++i) {
        auto const value = node(i).value(unpacked_[i]);
        if (i < leaves_) {
            unpacked_[2 * i] = static_cast<std::uint32_t>(value >> 32);
            unpacked_[2 * i + 1] = static_cast<std::uint32_t>(value);
        } else if (leaves_ == words_) {
            state[i - leaves_] = value;
        } else {
            auto const half = i - leaves_;
            state[half / 2] |= value << (half % 2 * 32);
        }
    }
    return true;
}

}  // namespace fencepost
