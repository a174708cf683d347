// Records of a few numbers each, in about as many bits as the numbers have. A record never changes and is
// read by its number.
//
// 1024 records make a block. A block is packed when it is full: each of its fields then has as many bits as
// the largest value there, so no bound need be known beforehand. The last block waits unpacked.
#pragma once

#include <array>
#include <initializer_list>
#include <span>

#include "engine/state/store.hpp"

namespace fencepost {

class PackedRecords {
  public:
    PackedRecords(MemoryBudget& budget, std::size_t fields);

    // Throws OutOfMemory.
    void append(std::span<Word const> record) {
        if ((size_ & block_mask) == 0 && size_ > 0) pack();
        for (std::size_t f = 0; f < fields_; ++f) open()[(size_ & block_mask) * fields_ + f] = record[f];
        ++size_;
    }
    void append(std::initializer_list<Word> record) { append(std::span(record.begin(), record.size())); }

    Word get(std::size_t n, std::size_t field) const {
        auto const row = n & block_mask;
        if (n >> block_shift == blocks_.size()) return open()[row * fields_ + field];
        auto const& block = blocks_[n >> block_shift];
        auto const& part = parts_[block.shape * fields_ + field];
        return bits(block.data, row * block.bits + part.first, part.width);
    }
    void prefetch(std::size_t n) const {
        if (n >> block_shift >= blocks_.size()) return;
        auto const& block = blocks_[n >> block_shift];
        __builtin_prefetch(block.data + (n & block_mask) * block.bits / 64);
    }
    std::size_t size() const { return size_; }

  private:
    static constexpr unsigned block_shift = 10;
    static constexpr std::size_t block_records = std::size_t{1} << block_shift;
    static constexpr std::size_t block_mask = block_records - 1;

    // Where a field stands in the records of a block.
    struct Part {
        std::uint32_t first, width;
        bool operator==(Part const&) const = default;
    };
    struct Block {
        Word const* data;
        std::uint32_t bits;   // of a record
        std::uint32_t shape;  // which parts
    };

    // There is a word behind the last one of a block.
    static Word bits(Word const* data, std::size_t at, std::uint32_t width) {
        if (width == 0) return 0;
        auto const shift = at % 64;
        Word value = data[at / 64] >> shift;
        if (shift + width > 64) value |= data[at / 64 + 1] << (64 - shift);
        return value & (~Word{0} >> (64 - width));
    }
    Word* open() const { return open_.as<Word>(); }
    [[gnu::noinline]] void pack();
    std::uint32_t shape_of(std::span<Part const> parts);
    Word* allocate(std::size_t words);

    MemoryBudget& budget_;
    std::size_t fields_;
    std::size_t size_ = 0;
    Pages open_;
    std::vector<Block> blocks_;
    std::vector<Part> parts_;   // the fields of all shapes that occur
    std::vector<Pages> pools_;  // of the data of blocks
    std::size_t pool_used_ = 0;
    std::size_t pools_bytes_ = 0;
};

// How states were reached, in few bits if states come in about the order of their parents.
class PackedOrigins {
  public:
    explicit PackedOrigins(MemoryBudget& budget) : steps_(budget, 3), bases_(budget, 1) {}

    void append(Origin origin) {
        if (size() % between_bases == 0) bases_.append({origin.parent});
        auto const further = static_cast<std::int32_t>(origin.parent - last_parent_);
        // The sign in the lowest bit, so that steps back are small numbers too.
        auto const sign = static_cast<std::uint32_t>(further >> 31);
        steps_.append({(static_cast<std::uint32_t>(further) << 1) ^ sign, origin.thread, origin.choice});
        last_parent_ = origin.parent;
    }
    Origin get(std::size_t n) const {
        auto const base = n / between_bases;
        auto parent = static_cast<std::uint32_t>(bases_.get(base, 0));
        for (auto i = base * between_bases + 1; i <= n; ++i) {
            auto const step = static_cast<std::uint32_t>(steps_.get(i, 0));
            parent += (step >> 1) ^ (0 - (step & 1));
        }
        return {parent, static_cast<std::uint32_t>(steps_.get(n, 1)) & 0xff,
                static_cast<std::uint32_t>(steps_.get(n, 2)) & 0xffffff};
    }
    std::size_t size() const { return steps_.size(); }

  private:
    static constexpr std::size_t between_bases = 64;

    PackedRecords steps_;  // the parent, less the one before; thread and choice
    PackedRecords bases_;  // each 64th parent
    StateNumber last_parent_ = 0;
};

}  // namespace fencepost
