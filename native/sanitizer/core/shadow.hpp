// A table over the address space: for each granule of four bytes the cells that begin there, for each unit of
// sixteen bytes the heap block that begins there. It has three levels; pages of it appear when they are
// touched.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fencepost {

struct Cell;

namespace shadow {

// Bits of an address: 12 root, 14 middle, 21 in its region.
inline constexpr unsigned root_bits = 12, middle_bits = 14, region_bits = 21;
inline constexpr std::uintptr_t region_bytes = std::uintptr_t{1} << region_bits;
inline constexpr unsigned page_bits = 12, granule_bits = 2, unit_bits = 4;
inline constexpr std::uintptr_t page_bytes = std::uintptr_t{1} << page_bits;

struct Region {
    Cell* granules[region_bytes >> granule_bits];
    std::uint32_t cells_in_page[region_bytes >> page_bits];
    std::uint32_t blocks[region_bytes >> unit_bits];  // the stack of the allocation; 0: no block begins here

    Cell*& granule(std::uintptr_t address) { return granules[(address % region_bytes) >> granule_bits]; }
    std::uint32_t& cells_near(std::uintptr_t address) {
        return cells_in_page[(address % region_bytes) >> page_bits];
    }
    std::uint32_t& block(std::uintptr_t address) { return blocks[(address % region_bytes) >> unit_bits]; }
};

struct Middle {
    Region* regions[std::size_t{1} << middle_bits];
};
extern Middle* root[std::size_t{1} << root_bits];

// A page has its first cell. If the one before it has cells too, those behind it will: their part of the
// table is made at once, before somebody looks into it. A page that was looked into before it is written
// must be changed for all processors.
void expect_neighbours(Region&, std::uintptr_t address);

// Null if the address is outside what the table covers.
Region* make_region(std::uintptr_t address);

// Null if there is none yet.
inline Region* find_region(std::uintptr_t address) {
    if (address >> (region_bits + middle_bits + root_bits) != 0) return nullptr;
    Middle* const middle = __atomic_load_n(&root[address >> (region_bits + middle_bits)], __ATOMIC_ACQUIRE);
    if (middle == nullptr) return nullptr;
    return __atomic_load_n(&middle->regions[(address >> region_bits) % (std::size_t{1} << middle_bits)],
                           __ATOMIC_ACQUIRE);
}

// A thread's last regions, so that they need not be looked up again.
struct RegionCache {
    static constexpr std::size_t size = 16;
    struct {
        std::uintptr_t number;
        Region* region;
    } entries[size];

    // Null if there is none yet.
    Region* find(std::uintptr_t address) {
        std::uintptr_t const number = address >> region_bits;
        auto& entry = entries[number % size];
        if (entry.number != number || entry.region == nullptr) [[unlikely]]
            entry = {number, find_region(address)};
        return entry.region;
    }
};

}  // namespace shadow
}  // namespace fencepost
