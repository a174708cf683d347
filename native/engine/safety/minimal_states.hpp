// The states met by a forward search. A state is a key and a row of numbers; of two with the same key, the
// one with lower numbers can do all that the other can. So only minimal states are searched, but all remember
// where they came from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "engine/state/store.hpp"

namespace fencepost {

using Bytes = std::span<std::uint8_t const>;

class MinimalStates {
  public:
    MinimalStates() : memory_(SIZE_MAX), records_(memory_, sizeof(Record) / sizeof(Word)), table_(memory_) {}

    // Whether the state is above no other; then its number is the last one. States with the same key have
    // rows of the same length. `parent` is no_state for an initial state.
    bool add(Bytes key, Bytes numbers, StateNumber parent, std::uint32_t thread);

    std::uint8_t const* key(StateNumber n) const { return record(record(n).first).data; }
    std::uint8_t const* numbers(StateNumber n) const {
        return record(n).data + (record(n).first == n ? record(n).key_size : 0);
    }
    bool is(StateNumber n, Bytes key, Bytes numbers) const {
        return has_key(record(n).first, key) &&
               std::ranges::equal(numbers, Bytes(this->numbers(n), numbers.size()));
    }
    StateNumber parent(StateNumber n) const { return record(n).parent; }
    std::uint32_t thread(StateNumber n) const { return record(n).thread; }
    // Whether no state below it has been added since.
    bool is_minimal(StateNumber n) const { return record(n).minimal; }

    std::size_t size() const { return records_.size(); }
    std::size_t bytes() const { return memory_.used(); }

  private:
    struct Record {
        std::uint8_t const* data;  // the key, only of the first one with this key, and the numbers
        StateNumber parent;
        StateNumber first, next;  // with the same key; the first one stays in the list
        std::uint32_t key_size : 23;
        std::uint32_t minimal : 1;
        std::uint32_t thread : 8;
    };
    static_assert(sizeof(Record) % sizeof(Word) == 0);

    Record& record(StateNumber n) const { return *reinterpret_cast<Record*>(records_[n]); }
    bool has_key(StateNumber first, Bytes key) const {
        return record(first).key_size == key.size() &&
               std::memcmp(record(first).data, key.data(), key.size()) == 0;
    }
    bool is_above_any(StateNumber first, Bytes numbers) const;
    void remove_above(StateNumber first, Bytes numbers);
    std::uint8_t const* save(Bytes key, Bytes numbers);

    MemoryBudget memory_;
    Arena records_;
    HashTable table_;  // the first one with each key
    std::vector<Pages> blocks_;
    std::size_t block_used_ = 0;
};

}  // namespace fencepost
