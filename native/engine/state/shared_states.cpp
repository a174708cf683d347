#include "engine/state/shared_states.hpp"

namespace fencepost {

namespace {

constexpr std::uint64_t most_shared_slots = std::uint64_t{1} << 32;
constexpr std::size_t moved_at_a_time = std::size_t{1} << 18;  // slots: a large page
constexpr std::size_t chunk_bytes = std::size_t{32} << 20;     // so that large pages fit in

unsigned chunk_shift(std::size_t record_bytes, std::size_t block) {
    return static_cast<unsigned>(std::bit_width(std::max(chunk_bytes / record_bytes, block)) - 1);
}

}  // namespace

SharedStates::SharedStates(std::size_t words, std::size_t most_bytes, Sizes sizes)
    : memory_(most_bytes),
      words_(words),
      block_(sizes.block),
      shift_(chunk_shift((words + 1) * sizeof(Word), sizes.block)),
      mask_((std::size_t{1} << shift_) - 1),
      directory_(((std::size_t{no_state} >> shift_) + 1) * sizeof(Word*)),
      count_(sizes.slots),
      slots_(memory_.take(count_ * sizeof(Slot))) {}

void SharedStates::reserve(Block& block) {
    std::lock_guard const hold(mutex_);
    auto const first = reserved_.load(std::memory_order_relaxed);
    if (first + block_ >= no_state) throw OutOfMemory("no more numbers");
    auto const record_bytes = (words_ + 1) * sizeof(Word);
    memory_.count(block_ * record_bytes);
    if (first >> shift_ == chunks_.size()) {
        chunks_.emplace_back(record_bytes << shift_);
        directory_.as<Word*>()[first >> shift_] = chunks_.back().as<Word>();
    }
    block = {static_cast<StateNumber>(first), static_cast<StateNumber>(first + block_)};
    reserved_.store(first + block_, std::memory_order_relaxed);
}

void SharedStates::begin_growing() {
    auto count = count_;
    while (reserved_.load(std::memory_order_relaxed) * 4 > count * 3) count *= 2;
    if (count == count_) return;
    if (count > most_shared_slots) throw OutOfMemory("more states than the store can number");
    auto larger = memory_.take_instead_of(slots_, count * sizeof(Slot));
    old_slots_ = std::move(slots_);
    slots_ = std::move(larger);
    count_ = count;
    next_to_move_.store(0, std::memory_order_relaxed);
}

void SharedStates::move_entries() {
    auto const old_count = old_slots_.bytes() / sizeof(Slot);
    while (true) {
        auto const first = next_to_move_.fetch_add(moved_at_a_time, std::memory_order_relaxed);
        if (first >= old_count) return;
        auto const end = std::min(first + moved_at_a_time, old_count);
        for (auto i = first; i < end; ++i) {
            auto const entry = old_slots_.as<Slot>()[i].load(std::memory_order_relaxed);
            if (entry == 0) continue;
            std::uint64_t empty = 0;
            for (auto at = home(tag_in(entry)); !slots()[at].compare_exchange_strong(
                     empty, entry, std::memory_order_relaxed, std::memory_order_relaxed);
                 at = after(at))
                empty = 0;
        }
        old_slots_.give_back(first * sizeof(Slot), (end - first) * sizeof(Slot));
    }
}

}  // namespace fencepost
