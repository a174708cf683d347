#include "engine/state/number_index.hpp"

#include <cstring>

namespace fencepost {

namespace {

constexpr std::size_t first_index_slots = std::size_t{1} << 10;
constexpr std::size_t slots_that_double = std::size_t{1} << 20;  // up to so many, growing is cheap
constexpr std::size_t most_index_slots = std::size_t{1} << 32;

}  // namespace

NumberIndex::NumberIndex(MemoryBudget& budget) : budget_(budget) {
    pages_ = budget_.take(first_index_slots * sizeof(std::uint32_t));
    set_sizes(first_index_slots);
}

// At most seven eighths of the slots are used: more, and searches get long.
void NumberIndex::set_sizes(std::size_t count) {
    count_ = count;
    most_ = count / 8 * 7;
    number_mask_ = static_cast<std::uint32_t>((std::uint64_t{1} << bits_for(most_)) - 1);
}

// The old slots are not needed to find the new ones. Large pages do not grow out of small ones.
void NumberIndex::clear_larger() {
    if (count_ == most_index_slots) throw OutOfMemory("more states than the store can number");
    auto const count =
        count_ < slots_that_double ? count_ * 2 : std::min(count_ + count_ / 5, most_index_slots);
    auto const bytes = count * sizeof(std::uint32_t);
    if (pages_.bytes() < huge_page && bytes >= huge_page) {
        pages_ = budget_.take_instead_of(pages_, bytes);
    } else {
        auto const old_bytes = count_ * sizeof(std::uint32_t);
        if (pages_.bytes() < bytes) budget_.extend(pages_, bytes);
        std::memset(pages_.as<void>(), 0, old_bytes);
    }
    set_sizes(count);
}

}  // namespace fencepost
