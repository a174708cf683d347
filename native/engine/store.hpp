// The set of all states met, each with the state it was first reached from.
//
// States stand one after the other in blocks that never move; an open-addressing table holds, per state, its
// number and 32 bits of its hash. A state's place in the table depends on these bits alone, so the table
// grows without touching the states.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "engine/layout.hpp"

namespace holdfast {

using StateNumber = std::uint32_t;
constexpr StateNumber no_state = UINT32_MAX;

struct OutOfMemory : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline std::uint64_t hash_words(Word const* words, std::size_t count) {
    std::uint64_t h = 0x9e3779b97f4a7c15u;
    for (std::size_t i = 0; i < count; ++i) {
        __extension__ auto const product = static_cast<unsigned __int128>(words[i] ^ h) * 0xd6e8feb86659fd93u;
        h = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64) ^ i;
    }
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    return h;
}

// Zeroed memory straight from the system, in large pages where it has them.
class Pages {
  public:
    Pages() = default;
    explicit Pages(std::size_t bytes);
    Pages(Pages&& other) noexcept : data_(other.data_), bytes_(other.bytes_) {
        other.data_ = nullptr;
        other.bytes_ = 0;
    }
    Pages& operator=(Pages&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    Pages(Pages const&) = delete;
    Pages& operator=(Pages const&) = delete;
    ~Pages();

    template <class T>
    T* as() const {
        return static_cast<T*>(data_);
    }
    std::size_t bytes() const { return bytes_; }

  private:
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
};

class StateStore {
  public:
    StateStore(std::size_t words_per_state, std::size_t most_bytes);

    // The state's number, and whether it is new. Throws OutOfMemory rather than use more than `most_bytes`.
    struct Inserted {
        StateNumber number;
        bool is_new;
    };
    Inserted insert(Word const* state, std::uint64_t hash, StateNumber parent);

    void prefetch_slot(std::uint64_t hash) const { __builtin_prefetch(&table()[place(tag_of(hash))]); }
    // The state in the first slot with these hash bits, if it is close.
    void prefetch_state(std::uint64_t hash) const {
        auto const tag = tag_of(hash);
        auto const first = place(tag);
        for (std::size_t at = first; at < std::min<std::size_t>(first + 4, slots_); ++at) {
            auto const slot = table()[at];
            if (slot == 0) return;
            if (static_cast<std::uint32_t>(slot >> 32) != tag) continue;
            __builtin_prefetch((*this)[static_cast<StateNumber>(slot) - 1]);
            return;
        }
    }

    Word const* operator[](StateNumber n) const {
        return blocks_[n >> block_shift_].as<Word>() + (n & block_mask_) * words_;
    }
    StateNumber parent(StateNumber n) const { return parents(n >> block_shift_)[n & block_mask_]; }

    std::size_t size() const { return size_; }
    std::size_t bytes() const { return bytes_; }
    std::size_t peak_bytes() const { return peak_bytes_; }

  private:
    static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }
    std::size_t place(std::uint32_t tag) const {
        return static_cast<std::size_t>((static_cast<std::uint64_t>(tag) * slots_) >> 32);
    }
    std::uint64_t* table() const { return table_.as<std::uint64_t>(); }
    std::uint32_t* parents(std::size_t block) const {
        return reinterpret_cast<std::uint32_t*>(blocks_[block].as<Word>() + (block_mask_ + 1) * words_);
    }
    Pages take(std::size_t bytes);
    void grow_table();
    void append(Word const* state, StateNumber parent);

    std::size_t words_;
    std::size_t most_bytes_;
    unsigned block_shift_ = 0;
    std::size_t block_mask_ = 0;
    std::vector<Pages> blocks_;
    Pages table_;  // per slot: tag in the upper half, number + 1 in the lower, 0 where empty
    std::uint64_t slots_ = 0;
    std::size_t size_ = 0;
    std::size_t bytes_ = 0;
    std::size_t peak_bytes_ = 0;
};

}  // namespace holdfast
