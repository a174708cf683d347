// The states of a search by several workers: one table for all of them, which they read and write without
// locks (Laarman, van de Pol, Weber 2010). It tells states apart bit by bit, as ExactStore does.
//
// A state's record is its words and its origin; its number says where the record is. A slot of the table has,
// as in HashTable, 32 bits of a hash and a number + 1, or 0 while it is empty. A worker has a block of
// numbers to itself. To put in a state, it goes through the slots from the one where the hash belongs:
//
// - The slot has the same bits of the hash: the record is compared. If it is the state, that one is known.
// - The slot is empty: the worker writes the record at its next number, if it has not done so yet, and then
//   tries to change the slot from 0 to its entry by compare-and-swap. If that succeeds, the state is new, and
//   the number is used. Else another worker was faster, and the slot is looked at as one that is not empty.
//   The number stays for the worker's next state.
//
// Why a state is stored once: a slot never changes again once it has an entry, until the table grows, and
// nobody puts in a state while it grows. All workers who look for the same state go through the same slots in
// the same order. The first slot of them that is empty, or has this state, is therefore the same for all:
// none passes by an empty slot without having put in its entry, and compare-and-swap lets one of them do so.
// The others then find the entry of that one there, since a compare-and-swap that fails gives what is in the
// slot now, and coherence keeps a later load from giving something older.
//
// Why a reader sees the whole record: the writer wrote it before its compare-and-swap, which is a release;
// the reader takes the number from a load, or from a failed compare-and-swap, that is an acquire and reads
// from it. So the writes happen before the reads. The same holds for the memory that the record is in: it was
// made before the writer got its block, under a mutex. Success needs no acquire, since 0 carries nothing. A
// record that lost is overwritten by the same worker only, and nobody else knows its number. Numbers that
// workers pass to each other go through a mutex (bag.hpp).
//
// Relaxed operations would not do: examples/lock-free-table/ has this protocol as a program, and fencepost
// finds the run in which a reader sees half a record (docs/lock-free-table.md).
//
// When the table is too full, workers stop putting in states, and all of them move its entries into a larger
// one, some slots at a time. Entries keep their order by home, nearly; a slot that is taken meanwhile is
// passed by. These operations may be relaxed: workers meet before and after (meeting.hpp).
#pragma once

#include <mutex>

#include "engine/state/store.hpp"

namespace fencepost {

class SharedStates {
  public:
    // With how many slots it begins, and how many numbers a block has. Tests take few.
    struct Sizes {
        std::size_t slots = std::size_t{1} << 16;
        std::size_t block = std::size_t{1} << 10;
    };
    // Numbers that one worker may give to states.
    struct Block {
        StateNumber next = 0, end = 0;
        bool is_empty() const { return next == end; }
    };

    SharedStates(std::size_t words, std::size_t most_bytes, Sizes sizes);

    std::uint64_t hash(Word const* state) const { return hash_words(state, words_); }
    [[gnu::always_inline]] void prefetch_slot(std::uint64_t hash) const {
        __builtin_prefetch(&slots()[home(tag_of(hash))]);
    }
    [[gnu::always_inline]] void prefetch_state(std::uint64_t hash) const {
        auto const tag = tag_of(hash);
        auto const first = home(tag);
        for (std::size_t at = first; at < std::min<std::size_t>(first + 4, count_); ++at) {
            auto const entry = slots()[at].load(std::memory_order_acquire);
            if (entry == 0) return;
            if (tag_in(entry) != tag) continue;
            __builtin_prefetch(record(number_in(entry)));
            return;
        }
    }

    // Gives a worker another block; its old one must be empty. Throws OutOfMemory.
    void reserve(Block& block);
    // Whether all numbers in blocks may be used: if not, the table has to grow first.
    bool has_room() const { return reserved_.load(std::memory_order_relaxed) * 4 <= count_ * 3; }

    // The number of the state if it is new, else `no_state`. There must be room, and a number in the block.
    StateNumber insert(Word const* state, std::uint64_t hash, Origin origin, Block& block) {
        auto const tag = tag_of(hash);
        bool is_written = false;
        for (auto at = home(tag);; at = after(at)) {
            auto entry = slots()[at].load(std::memory_order_acquire);
            if (entry == 0) {
                if (!is_written) write(block.next, state, origin);
                is_written = true;
                if (slots()[at].compare_exchange_strong(entry, entry_of(tag, block.next),
                                                        std::memory_order_release, std::memory_order_acquire))
                    return block.next++;
            }
            if (tag_in(entry) == tag && same_words(record(number_in(entry)), state, words_)) return no_state;
        }
    }

    // Growing: first one worker begins, then all move entries, while nobody does anything else here. Nothing
    // is left to do at the end.
    void begin_growing();
    void move_entries();

    // All numbers that there are so far, in blocks or of states.
    StateNumber numbers() const {
        return static_cast<StateNumber>(reserved_.load(std::memory_order_relaxed));
    }
    void load(StateNumber n, Word* state) const { copy_words(state, record(n), words_); }
    Origin origin(StateNumber n) const { return as_origin(record(n)[words_]); }
    MemoryBudget const& memory() const { return memory_; }

  private:
    using Slot = std::atomic<std::uint64_t>;
    static_assert(sizeof(Slot) == sizeof(std::uint64_t) && Slot::is_always_lock_free);

    static std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }
    static std::uint32_t tag_in(std::uint64_t entry) { return static_cast<std::uint32_t>(entry >> 32); }
    static StateNumber number_in(std::uint64_t entry) { return static_cast<StateNumber>(entry) - 1; }
    static std::uint64_t entry_of(std::uint32_t tag, StateNumber n) {
        return static_cast<std::uint64_t>(tag) << 32 | (n + 1);
    }
    std::size_t home(std::uint32_t tag) const { return static_cast<std::uint64_t>(tag) * count_ >> 32; }
    std::size_t after(std::size_t slot) const { return slot + 1 == count_ ? 0 : slot + 1; }
    Slot* slots() const { return slots_.as<Slot>(); }
    Word* record(StateNumber n) const {
        return directory_.as<Word*>()[n >> shift_] + (n & mask_) * (words_ + 1);
    }
    void write(StateNumber n, Word const* state, Origin origin) {
        Word* const to = record(n);
        copy_words(to, state, words_);
        to[words_] = as_word(origin);
    }

    MemoryBudget memory_;
    std::size_t words_, block_;
    unsigned shift_;
    std::size_t mask_;
    Pages directory_;  // where the chunks of records are, which never move
    std::size_t count_;
    Pages slots_;
    Pages old_slots_;  // while the table grows; then they take no memory
    std::atomic<std::size_t> next_to_move_ = 0;

    std::mutex mutex_;           // of what follows, to change it
    std::vector<Pages> chunks_;  // counted by blocks: the system gives memory when it is touched
    alignas(64) std::atomic<std::uint64_t> reserved_ = 0;
};

}  // namespace fencepost
