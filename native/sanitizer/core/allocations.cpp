#include "sanitizer/core/allocations.hpp"

#include <malloc.h>

#include "sanitizer/core/shadow.hpp"
#include "sanitizer/core/stacks.hpp"

namespace fencepost {

void note_block(Thread& t, void const* block, void const* frame) {
    auto const address = reinterpret_cast<std::uintptr_t>(block);
    shadow::Region* const region = shadow::make_region(address);
    if (region != nullptr) __atomic_store_n(&region->block(address), keep_stack(t, frame), __ATOMIC_RELAXED);
}

void forget_block(void const* block) {
    auto const address = reinterpret_cast<std::uintptr_t>(block);
    shadow::Region* const region = shadow::find_region(address);
    if (region != nullptr) __atomic_store_n(&region->block(address), 0, __ATOMIC_RELAXED);
}

// The nearest beginning before the address, if that block reaches so far. Very large blocks are not found
// from far inside.
Block find_block(std::uintptr_t address) {
    constexpr std::uintptr_t unit = std::uintptr_t{1} << shadow::unit_bits;
    std::uintptr_t begin = address & ~(unit - 1);
    for (std::uintptr_t searched = 0; searched < shadow::region_bytes && begin >= unit; searched += unit) {
        shadow::Region* const region = shadow::find_region(begin);
        if (region == nullptr) break;
        if (std::uint32_t const stack = __atomic_load_n(&region->block(begin), __ATOMIC_RELAXED);
            stack != 0) {
            std::size_t const bytes = malloc_usable_size(reinterpret_cast<void*>(begin));
            return address < begin + bytes ? Block{begin, bytes, stack} : Block{};
        }
        begin -= unit;
    }
    return {};
}

}  // namespace fencepost
