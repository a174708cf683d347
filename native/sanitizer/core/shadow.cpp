#include "sanitizer/core/shadow.hpp"

#include "sanitizer/system/lock.hpp"
#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/syscalls.hpp"

namespace fencepost::shadow {

Middle* root[std::size_t{1} << root_bits];

namespace {

Lock growth;

template <class Node>
Node* child(Node*& place) {
    if (place == nullptr)
        __atomic_store_n(&place, static_cast<Node*>(memory::pages(sizeof(Node))), __ATOMIC_RELEASE);
    return place;
}

}  // namespace

void expect_neighbours(Region& region, std::uintptr_t address) {
    constexpr std::uintptr_t pages = 8;
    std::uintptr_t const page = address & ~(page_bytes - 1);
    if (page % (pages * page_bytes) != 0 || page % region_bytes == 0) return;
    if (__atomic_load_n(&region.cells_near(page - page_bytes), __ATOMIC_RELAXED) == 0) return;
    constexpr std::size_t bytes = (pages * page_bytes >> granule_bits) * sizeof(Cell*);
    kernel::call(SYS_madvise, &region.granule(page), bytes, MADV_POPULATE_WRITE);
}

Region* make_region(std::uintptr_t address) {
    if (Region* const region = find_region(address); region != nullptr) return region;
    if (address >> (region_bits + middle_bits + root_bits) != 0) return nullptr;
    Locked held(growth);
    Middle* const middle = child(root[address >> (region_bits + middle_bits)]);
    return child(middle->regions[(address >> region_bits) % (std::size_t{1} << middle_bits)]);
}

}  // namespace fencepost::shadow
