#include "engine/store.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>

namespace holdfast {

namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;
constexpr std::uint64_t first_slots = std::uint64_t{1} << 12;
constexpr std::uint64_t most_slots = std::uint64_t{1} << 32;
constexpr std::size_t huge_page = std::size_t{2} << 20;

}  // namespace

Pages::Pages(std::size_t bytes) : bytes_(bytes) {
    data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data_ == MAP_FAILED) {
        data_ = nullptr;
        throw OutOfMemory("the system has no more memory");
    }
    if (bytes >= huge_page) madvise(data_, bytes, MADV_HUGEPAGE);
}

Pages::~Pages() {
    if (data_ != nullptr) munmap(data_, bytes_);
}

StateStore::StateStore(std::size_t words_per_state, std::size_t most_bytes)
    : words_(words_per_state), most_bytes_(most_bytes) {
    std::size_t const per_state = words_ * sizeof(Word) + sizeof(StateNumber);
    std::size_t const states = std::bit_floor(std::max<std::size_t>(block_bytes / per_state, 16));
    block_shift_ = static_cast<unsigned>(std::countr_zero(states));
    block_mask_ = states - 1;
    slots_ = first_slots;
    table_ = take(slots_ * sizeof(std::uint64_t));
}

Pages StateStore::take(std::size_t bytes) {
    if (bytes_ + bytes > most_bytes_) throw OutOfMemory("the memory limit is reached");
    Pages pages(bytes);
    bytes_ += bytes;
    peak_bytes_ = std::max(peak_bytes_, bytes_);
    return pages;
}

// Old slots are met in the order of their places, which is the order of their new places too, except for
// those that wrapped around; so both tables are walked from front to back.
void StateStore::grow_table() {
    std::uint64_t const old_slots = slots_;
    Pages old = std::move(table_);
    try {
        table_ = take(old_slots * 2 * sizeof(std::uint64_t));
    } catch (...) {
        table_ = std::move(old);
        throw;
    }
    slots_ = old_slots * 2;
    auto const* from = old.as<std::uint64_t>();
    auto* to = table();
    for (std::uint64_t i = 0; i < old_slots; ++i) {
        if (from[i] == 0) continue;
        std::size_t at = place(static_cast<std::uint32_t>(from[i] >> 32));
        while (to[at] != 0) at = at + 1 == slots_ ? 0 : at + 1;
        to[at] = from[i];
    }
    bytes_ -= old.bytes();
}

void StateStore::append(Word const* state, StateNumber parent) {
    std::size_t const block = size_ >> block_shift_;
    if (block == blocks_.size()) {
        blocks_.push_back(take((block_mask_ + 1) * (words_ * sizeof(Word) + sizeof(StateNumber))));
    }
    std::size_t const within = size_ & block_mask_;
    std::memcpy(blocks_[block].as<Word>() + within * words_, state, words_ * sizeof(Word));
    parents(block)[within] = parent;
    ++size_;
}

StateStore::Inserted StateStore::insert(Word const* state, std::uint64_t hash, StateNumber parent) {
    if (size_ * 4 >= slots_ * 3) {
        if (slots_ == most_slots) throw OutOfMemory("more states than the store can number");
        grow_table();
    }
    std::uint32_t const tag = tag_of(hash);
    auto* const slots = table();
    std::size_t at = place(tag);
    while (slots[at] != 0) {
        if (static_cast<std::uint32_t>(slots[at] >> 32) == tag) {
            auto const number = static_cast<StateNumber>(slots[at]) - 1;
            if (same_words((*this)[number], state, words_)) return {number, false};
        }
        at = at + 1 == slots_ ? 0 : at + 1;
    }
    auto const number = static_cast<StateNumber>(size_);
    append(state, parent);
    slots[at] = static_cast<std::uint64_t>(tag) << 32 | (number + 1);
    return {number, true};
}

}  // namespace holdfast
