// Numbers by the hash of what they number, in four bytes each. The things themselves are elsewhere, and can
// be hashed again; so little of a hash need be kept, and the table can grow by a fifth.
//
// A slot has a number in its lower bits, as many as a table of this size needs, and bits of the hash in the
// others, so that few other things are looked at in a search. Where a slot belongs follows from other bits.
#pragma once

#include "engine/state/store.hpp"

namespace fencepost {

class NumberIndex {
  public:
    explicit NumberIndex(MemoryBudget& budget);

    // The number with this hash for which `same` is true, or `no_state`; then `add` may put one in.
    template <class Same>
    std::uint32_t find(std::uint64_t hash, Same same) {
        auto const tag = tag_of(hash);
        for (free_ = home(hash); slots()[free_] != 0; free_ = after(free_)) {
            auto const slot = slots()[free_];
            if (((slot ^ tag) & ~number_mask_) != 0) continue;
            auto const number = (slot & number_mask_) - 1;
            if (same(number)) return number;
        }
        return no_state;
    }
    // After `find` of the same hash has found nothing. Numbers come in order, from 0 on.
    void add(std::uint64_t hash) { put(free_, hash, size_++); }
    // Makes room for one more; call it before `find`. `hash_of` hashes a thing again, by its number.
    template <class HashOf>
    void reserve_one(HashOf hash_of) {
        if (size_ >= most_) grow(hash_of);
    }
    void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots()[home(hash)]); }

  private:
    static constexpr std::size_t ahead = 16;  // slots that are fetched while the table grows

    std::uint32_t tag_of(std::uint64_t hash) const {
        return static_cast<std::uint32_t>(hash) & ~number_mask_;
    }
    std::size_t home(std::uint64_t hash) const {
        return static_cast<std::size_t>(((hash >> 32) * count_) >> 32);
    }
    std::size_t after(std::size_t slot) const { return slot + 1 == count_ ? 0 : slot + 1; }
    std::uint32_t* slots() const { return pages_.as<std::uint32_t>(); }
    void put(std::size_t slot, std::uint64_t hash, std::uint32_t number) {
        slots()[slot] = tag_of(hash) | (number + 1);
    }
    void set_sizes(std::size_t count);
    void clear_larger();

    template <class HashOf>
    [[gnu::noinline]] void grow(HashOf hash_of) {
        clear_larger();
        std::array<std::uint64_t, ahead> hashes;
        for (std::uint32_t first = 0; first < size_; first += ahead) {
            auto const some = std::min<std::uint32_t>(ahead, size_ - first);
            for (std::uint32_t i = 0; i < some; ++i) {
                hashes[i] = hash_of(first + i);
                prefetch(hashes[i]);
            }
            for (std::uint32_t i = 0; i < some; ++i) {
                auto at = home(hashes[i]);
                while (slots()[at] != 0) at = after(at);
                put(at, hashes[i], first + i);
            }
        }
    }

    MemoryBudget& budget_;
    Pages pages_;
    std::size_t count_ = 0;  // of slots
    std::size_t most_ = 0;   // numbers that they take
    std::uint32_t number_mask_ = 0;
    std::uint32_t size_ = 0;
    std::size_t free_ = 0;
};

}  // namespace fencepost
