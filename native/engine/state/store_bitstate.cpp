#include "engine/state/store_bitstate.hpp"

namespace fencepost {

namespace {

constexpr std::size_t fewest_bits_bytes = std::size_t{1} << 12;

}  // namespace

BitstateStore::BitstateStore(std::size_t words, std::size_t, std::size_t most_bytes,
                             Variation const& variation)
    : memory_(most_bytes),
      words_(words),
      seed_(variation.seed),
      bits_per_state_(variation.bits_per_state),
      origins_(memory_, 1),
      waiting_(memory_, words) {
    auto const bytes =
        std::bit_floor(std::max(std::min(most_bytes / 4, variation.bits_bytes), fewest_bits_bytes));
    mask_ = bytes * 8 - 1;
    bits_ = memory_.take(bytes);
}

bool BitstateStore::insert(Word const* state, std::uint64_t hash, Origin origin) {
    // The lower half of the hash also chooses the worker that a state belongs to.
    std::uint64_t const stride = (hash >> 32 ^ hash * 0x9e3779b97f4a7c15u) | 1;
    bool known = true;
    std::uint64_t number = hash;
    for (std::uint32_t i = 0; i < bits_per_state_; ++i, number += stride) {
        Word const bit = Word{1} << (number % 64);
        if ((word_of(number) & bit) != 0) continue;
        known = false;
        word_of(number) |= bit;
        ++set_;
    }
    if (known) return false;
    auto at = waiting_.size();
    if (unused_.empty()) {
        waiting_.append();
    } else {
        at = unused_.back();
        unused_.pop_back();
    }
    std::memcpy(waiting_[at], state, words_ * sizeof(Word));
    waiting_at_[static_cast<StateNumber>(size())] = at;
    *origins_.append() = as_word(origin);
    return true;
}

bool BitstateStore::load(StateNumber n, Word* state) {
    auto const found = waiting_at_.find(n);
    std::memcpy(state, waiting_[found->second], words_ * sizeof(Word));
    unused_.push_back(found->second);
    waiting_at_.erase(found);
    return true;
}

}  // namespace fencepost
