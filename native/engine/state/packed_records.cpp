#include "engine/state/packed_records.hpp"

namespace fencepost {

namespace {

constexpr std::size_t least_pool_bytes = std::size_t{1} << 16, most_pool_bytes = std::size_t{1} << 22;

void put_bits(Word* data, std::size_t at, std::uint32_t width, Word value) {
    if (width == 0) return;
    auto const shift = at % 64;
    data[at / 64] |= value << shift;
    if (shift + width > 64) data[at / 64 + 1] |= value >> (64 - shift);
}

}  // namespace

PackedRecords::PackedRecords(MemoryBudget& budget, std::size_t fields)
    : budget_(budget), fields_(fields), open_(budget.take(block_records * fields * sizeof(Word))) {}

void PackedRecords::pack() {
    std::vector<Part> parts(fields_);
    std::uint32_t record_bits = 0;
    for (std::size_t f = 0; f < fields_; ++f) {
        Word all = 0;
        for (std::size_t row = 0; row < block_records; ++row) all |= open()[row * fields_ + f];
        parts[f] = {record_bits, static_cast<std::uint32_t>(bits_for(all))};
        record_bits += parts[f].width;
    }
    Word* const data = allocate(block_records / 64 * record_bits + 1);
    for (std::size_t row = 0; row < block_records; ++row) {
        for (std::size_t f = 0; f < fields_; ++f)
            put_bits(data, row * record_bits + parts[f].first, parts[f].width, open()[row * fields_ + f]);
    }
    blocks_.push_back({data, record_bits, shape_of(parts)});
}

// There are few shapes, since fields get wider and wider, or vary a little.
std::uint32_t PackedRecords::shape_of(std::span<Part const> parts) {
    auto const count = parts_.size() / fields_;
    for (auto shape = count; shape-- > 0;) {
        if (std::equal(parts.begin(), parts.end(),
                       parts_.begin() + static_cast<std::ptrdiff_t>(shape * fields_)))
            return static_cast<std::uint32_t>(shape);
    }
    parts_.insert(parts_.end(), parts.begin(), parts.end());
    return static_cast<std::uint32_t>(count);
}

// The pools get larger with what there is, so that little is left over at the end of the last one.
Word* PackedRecords::allocate(std::size_t words) {
    auto const bytes = words * sizeof(Word);
    if (pools_.empty() || pool_used_ + bytes > pools_.back().bytes()) {
        auto const wanted =
            std::clamp(std::bit_ceil(pools_bytes_ / 8 + 1), least_pool_bytes, most_pool_bytes);
        pools_.push_back(budget_.take(std::max(wanted, bytes)));
        pools_bytes_ += pools_.back().bytes();
        pool_used_ = 0;
    }
    Word* const fresh = pools_.back().as<Word>() + pool_used_ / sizeof(Word);
    pool_used_ += bytes;
    return fresh;
}

}  // namespace fencepost
