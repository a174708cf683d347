#include "engine/safety/minimal_states.hpp"

#include <algorithm>
#include <utility>

namespace fencepost {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;

std::uint64_t hash_of(Bytes bytes) {
    std::uint64_t h = 0x9e3779b97f4a7c15u;
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(Word)) {
        Word word = 0;
        std::memcpy(&word, bytes.data() + i, std::min(sizeof(Word), bytes.size() - i));
        h = (h ^ word) * 0xd6e8feb86659fd93u;
        h ^= h >> 32;
    }
    return h * 0xd6e8feb86659fd93u;
}

bool all_at_most(std::uint8_t const* a, std::uint8_t const* b, std::size_t count) {
    std::size_t n = 0;
    while (n < count && a[n] <= b[n]) ++n;
    return n == count;
}

}  // namespace

bool MinimalStates::add(Bytes key, Bytes numbers, StateNumber parent, std::uint32_t thread) {
    table_.reserve_one();
    auto const hash = hash_of(key);
    auto const known = table_.find(hash, [&](StateNumber n) { return has_key(n, key); });
    if (known != no_state && is_above_any(known, numbers)) return false;
    auto const number = static_cast<StateNumber>(size());
    auto const first = known == no_state ? number : known;
    auto const* const data = save(first == number ? key : Bytes{}, numbers);
    auto const key_size = static_cast<std::uint32_t>(key.size());
    new (records_.append()) Record{data, parent, first, no_state, key_size & 0x7fffff, 1, thread & 0xff};
    // Nothing is thrown from here on.
    if (first == number) {
        table_.add(hash, number);
    } else {
        remove_above(first, numbers);
        record(number).next = std::exchange(record(first).next, number);
    }
    return true;
}

bool MinimalStates::is_above_any(StateNumber first, Bytes numbers) const {
    for (auto n = first; n != no_state; n = record(n).next) {
        if (all_at_most(this->numbers(n), numbers.data(), numbers.size())) return true;
    }
    return false;
}

void MinimalStates::remove_above(StateNumber first, Bytes numbers) {
    auto const is_above = [&](StateNumber n) {
        return all_at_most(numbers.data(), this->numbers(n), numbers.size());
    };
    if (is_above(first)) record(first).minimal = 0;
    for (auto n = first; record(n).next != no_state;) {
        auto const next = record(n).next;
        if (is_above(next)) {
            record(next).minimal = 0;
            record(n).next = record(next).next;
        } else {
            n = next;
        }
    }
}

std::uint8_t const* MinimalStates::save(Bytes key, Bytes numbers) {
    auto const size = key.size() + numbers.size();
    if (blocks_.empty() || block_used_ + size > blocks_.back().bytes()) {
        blocks_.push_back(memory_.take(std::max(block_bytes, size)));
        block_used_ = 0;
    }
    auto* const to = blocks_.back().as<std::uint8_t>() + block_used_;
    block_used_ += size;
    std::ranges::copy(key, to);
    std::ranges::copy(numbers, to + key.size());
    return to;
}

}  // namespace fencepost
