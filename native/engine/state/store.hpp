// The states met so far. All stores number states as they come and remember where each came from. Two are
// here; two more are in store_compressed.hpp and store_bitstate.hpp.
//
// `ExactStore` tells states apart bit by bit. `AntichainStore` uses that monitors are monotone (design.md,
// section 4.2): of two states with the same program state and memory, the one with the larger monitor shows
// everything that the other can show, so only maximal monitors are kept.
//
// States stand in blocks that never move; an open-addressing table holds, per entry, a number and 32 bits of
// a hash. An entry's slot depends on these bits alone, so the table grows without touching the states.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include "engine/state/layout.hpp"

namespace fencepost {

using StateNumber = std::uint32_t;
constexpr StateNumber no_state = UINT32_MAX;

// How a state was reached: from which state, by which thread, as which of the successors of that step. An
// initial state comes from no state, and `choice` is its number among them.
struct Origin {
    StateNumber parent;
    std::uint32_t thread : 8;
    std::uint32_t choice : 24;
};

inline Origin as_origin(Word word) {
    Origin origin;
    static_assert(sizeof(origin) == sizeof(word));
    std::memcpy(&origin, &word, sizeof(origin));
    return origin;
}

inline Word as_word(Origin origin) {
    Word word;
    std::memcpy(&word, &origin, sizeof(word));
    return word;
}

// As for any other allocation that fails, with the reason.
class OutOfMemory : public std::bad_alloc {
  public:
    explicit OutOfMemory(char const* why) : why_(why) {}
    char const* what() const noexcept override { return why_; }

  private:
    char const* why_;
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

// By hand, since plain x86-64 has no instruction for it and std::popcount would be a call.
inline std::uint32_t count_bits(Word const* words, std::size_t count) {
    Word bits = 0;
    for (std::size_t i = 0; i < count; ++i) {
        Word w = words[i];
        w -= w >> 1 & 0x5555555555555555u;
        w = (w & 0x3333333333333333u) + (w >> 2 & 0x3333333333333333u);
        w = (w + (w >> 4)) & 0x0f0f0f0f0f0f0f0fu;
        bits += w * 0x0101010101010101u >> 56;
    }
    return static_cast<std::uint32_t>(bits);
}

constexpr std::size_t huge_page = std::size_t{2} << 20;

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
    // Keeps the contents, and adds zeros at the end.
    void extend(std::size_t bytes);
    // Takes no memory for this part any more; its contents are lost.
    void give_back(std::size_t first, std::size_t bytes);

  private:
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
};

// Counts the memory of a search, and refuses more than its limit. Workers may take memory concurrently.
//
// Blocks are cut from larger pieces, so that large pages fit in, and so that the system has few pieces to
// manage: it gives them out, and takes them back, while all workers wait. What is not used yet of a piece
// takes no memory.
class MemoryBudget {
  public:
    explicit MemoryBudget(std::size_t most) : most_(most) {}
    Pages take(std::size_t bytes);
    // Zeroed, and there as long as the budget.
    void* take_block(std::size_t bytes);
    void extend(Pages& pages, std::size_t bytes);
    // For larger pages, whose owner gives back the old ones while it fills them.
    Pages take_instead_of(Pages const& old, std::size_t bytes);
    std::size_t used() const { return used_; }
    std::size_t left() const { return most_ - used_; }
    // For memory that was not taken here.
    void count(std::size_t bytes);
    // Sets another limit; while nobody takes memory.
    void allow(std::size_t most) { most_ = most; }

  private:
    std::size_t most_;
    std::atomic<std::size_t> used_ = 0;  // what was taken is never given back
    std::mutex mutex_;
    std::vector<Pages> slabs_;                        // of blocks
    std::size_t slab_used_ = 0, bytes_of_slabs_ = 0;  // of the last one, and of all
};

// An array of records of some units each that grows at its end and never moves.
template <class Unit>
class ArenaOf {
  public:
    ArenaOf(MemoryBudget& budget, std::size_t units_per_record,
            std::size_t block_bytes = std::size_t{1} << 18)
        : budget_(budget), units_(units_per_record) {
        std::size_t const records =
            std::bit_floor(std::max<std::size_t>(block_bytes / (units_ * sizeof(Unit)), 16));
        shift_ = static_cast<unsigned>(std::countr_zero(records));
        mask_ = records - 1;
    }
    Unit* operator[](std::size_t n) const { return blocks_[n >> shift_] + (n & mask_) * units_; }
    Unit* append() {
        if (size_ >> shift_ == blocks_.size()) add_block();
        return (*this)[size_++];
    }
    // So many more records, which several workers can then write.
    void append_many(std::size_t records) {
        while (blocks_.size() << shift_ < size_ + records) add_block();
        size_ += records;
    }
    // Keeps the memory; records appended from now on are not zeroed.
    void clear() { size_ = 0; }
    std::size_t size() const { return size_; }

  private:
    [[gnu::noinline]] void add_block() {
        blocks_.push_back(static_cast<Unit*>(budget_.take_block((mask_ + 1) * units_ * sizeof(Unit))));
    }

    MemoryBudget& budget_;
    std::size_t units_;
    unsigned shift_ = 0;
    std::size_t mask_ = 0;
    std::size_t size_ = 0;
    std::vector<Unit*> blocks_;
};

using Arena = ArenaOf<Word>;

// Numbers by hash. The caller compares the things that they number.
class HashTable {
  public:
    explicit HashTable(MemoryBudget& budget);

    // The first number with this hash for which `same` is true, or `no_state`; then `add` may put one in.
    template <class Same>
    std::uint32_t find(std::uint64_t hash, Same same) {
        std::uint32_t const tag = tag_of(hash);
        for (free_ = home(tag); slots()[free_] != 0; free_ = after(free_)) {
            if (static_cast<std::uint32_t>(slots()[free_] >> 32) != tag) continue;
            auto const number = static_cast<std::uint32_t>(slots()[free_]) - 1;
            if (same(number)) return number;
        }
        return no_state;
    }
    // After `find` of the same hash has found nothing.
    void add(std::uint64_t hash, std::uint32_t number) {
        slots()[free_] = static_cast<std::uint64_t>(tag_of(hash)) << 32 | (number + 1);
        ++size_;
    }
    // Makes room for one more; call it before `find`.
    void reserve_one() {
        if (size_ >= most_) grow();
    }
    // Makes room for so many: until they are added, no entry moves.
    void reserve(std::size_t more) {
        while (size_ + more >= most_) grow();
    }
    // Where `add` has put its entry, and another number for the entry there.
    std::size_t last_place() const { return free_; }
    void renumber(std::size_t place, std::uint32_t number) {
        slots()[place] = (slots()[place] & ~std::uint64_t{UINT32_MAX}) | (number + 1);
    }
    // Who fetches ahead is inlined: gcc leaves out calls of functions that do nothing else.
    [[gnu::always_inline]] void prefetch(std::uint64_t hash) const {
        __builtin_prefetch(&slots()[home(tag_of(hash))]);
    }
    // A number with the same hash bits, close to where the hash belongs, or `no_state`; in the rare case of
    // two, some number. Without a branch: no processor could guess it.
    [[gnu::always_inline]] std::uint32_t likely(std::uint64_t hash) const {
        auto const tag = tag_of(hash);
        auto const* const slot = slots() + std::min<std::size_t>(home(tag), count_ - 2);
        auto const number_or_none = [tag](std::uint64_t entry) {  // in an empty slot stands `no_state` + 1
            auto const all_if_other = std::uint32_t{entry >> 32 == tag} - 1;
            return (static_cast<std::uint32_t>(entry) - 1) | all_if_other;
        };
        static_assert(no_state == UINT32_MAX);
        return number_or_none(slot[0]) & number_or_none(slot[1]);
    }

  private:
    static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }
    std::size_t home(std::uint32_t tag) const {
        return static_cast<std::size_t>((static_cast<std::uint64_t>(tag) * count_) >> 32);
    }
    std::size_t after(std::size_t slot) const { return slot + 1 == count_ ? 0 : slot + 1; }
    std::uint64_t* slots() const { return pages_.as<std::uint64_t>(); }
    void put(std::uint64_t entry) {
        auto at = home(static_cast<std::uint32_t>(entry >> 32));
        while (slots()[at] != 0) at = after(at);
        slots()[at] = entry;
    }
    void set_count(std::uint64_t count);
    void grow();
    void grow_in_place();
    void grow_elsewhere();

    MemoryBudget& budget_;
    Pages pages_;  // per slot: hash bits in the upper half, number + 1 in the lower, 0 where empty
    std::uint64_t count_ = 0;
    std::size_t size_ = 0;
    std::size_t most_ = 0;  // entries, before it grows
    std::size_t free_ = 0;
};

class ExactStore {
  public:
    // The first `key_words` of a state are program state and memory; not used here.
    ExactStore(std::size_t words, std::size_t key_words, std::size_t most_bytes);

    std::uint64_t hash(Word const* state) const { return hash_words(state, words_); }
    [[gnu::always_inline]] void prefetch_slot(std::uint64_t hash) const { table_.prefetch(hash); }
    // A state that is probably the one with this hash, or `no_state`.
    [[gnu::always_inline]] StateNumber prefetch_state(std::uint64_t hash) const {
        auto const number = table_.likely(hash);
        if (number != no_state) __builtin_prefetch(states_[number]);
        return number;
    }
    bool is_state(StateNumber n, Word const* state) const { return same_words(states_[n], state, words_); }
    // Whether the state is new; then its number is the last one. Throws OutOfMemory.
    bool insert(Word const* state, std::uint64_t hash, Origin origin) {
        auto const number = size();
        return put(state, hash, origin) == number;
    }
    // The number of the state, new or not.
    StateNumber put(Word const* state, std::uint64_t hash, Origin origin);

    // False, with nothing loaded, if a state met later makes this one superfluous.
    bool load(StateNumber n, Word* state) const {
        copy_words(state, states_[n], words_);
        return true;
    }
    Origin origin(StateNumber n) const;
    // How many elements the sets of the state's monitor have; of no use here.
    std::size_t elements(Word const*) const { return 0; }

    std::size_t size() const { return states_.size(); }
    MemoryBudget const& memory() const { return memory_; }

  private:
    MemoryBudget memory_;
    std::size_t words_;
    Arena states_;  // the words of the state, then its origin
    HashTable table_;
};

class AntichainStore {
  public:
    AntichainStore(std::size_t words, std::size_t key_words, std::size_t most_bytes);

    std::uint64_t hash(Word const* state) const { return hash_words(state, key_words_); }
    [[gnu::always_inline]] void prefetch_slot(std::uint64_t hash) const { table_.prefetch(hash); }
    [[gnu::always_inline]] void prefetch_state(std::uint64_t hash) const {
        auto const number = table_.likely(hash);
        if (number != no_state) __builtin_prefetch(keys_[number]);
    }
    [[gnu::always_inline]] void prefetch_members(std::uint64_t hash) const {
        auto const number = table_.likely(hash);
        if (number != no_state) __builtin_prefetch(members_of(keys_[number]).words);
    }
    bool insert(Word const* state, std::uint64_t hash, Origin origin);

    bool load(StateNumber n, Word* state) const;
    Origin origin(StateNumber n) const;
    std::size_t elements(Word const* state) const { return count_bits(state + key_words_, monitor_words_); }

    std::size_t size() const { return records_.size(); }
    MemoryBudget const& memory() const { return memory_; }

  private:
    // The maximal monitors met with one key, in no order: the first words of all of them, then the second
    // words, and so on, then the numbers of their states. Mostly the first words already show that neither of
    // two monitors includes the other.
    struct Members {
        Word* words;
        std::uint32_t count, capacity;

        Word* column(std::size_t i) const { return words + i * capacity; }
        StateNumber* numbers(std::size_t monitor_words) const {
            return reinterpret_cast<StateNumber*>(column(monitor_words));
        }
    };
    struct Record {
        StateNumber parent;
        std::uint32_t thread_and_choice;
        std::uint32_t key;
    };

    Members members_of(Word const* key) const {
        Word const sizes = key[key_words_ + 1];
        return {std::bit_cast<Word*>(key[key_words_]), static_cast<std::uint32_t>(sizes),
                static_cast<std::uint32_t>(sizes >> 32)};
    }
    void set_members(Word* key, Members const& members) const;
    // Whether member i includes the monitor, or the monitor member i, from the second words on.
    bool includes(Members const& members, std::uint32_t i, Word const* monitor) const;
    bool is_included(Members const& members, std::uint32_t i, Word const* monitor) const;
    void move(Members const& from, std::uint32_t i, Members const& to, std::uint32_t j) const;
    void grow(Members& members);
    std::size_t words_for(std::uint32_t capacity) const;
    Word* allocate(std::uint32_t capacity);

    MemoryBudget memory_;
    std::size_t key_words_, monitor_words_;
    Arena keys_;  // the words of the key, then a pointer to its members, then their count and capacity
    ArenaOf<Record> records_;  // per state
    HashTable table_;
    std::vector<Pages> pools_;
    std::size_t pool_used_ = 0;
    std::vector<std::vector<Word*>> unused_;  // given back, by class of capacity
};

}  // namespace fencepost
