#include "shadow.hpp"

#include "lock.hpp"
#include "memory.hpp"

namespace holdfast::shadow {

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

Region* make_region(std::uintptr_t address) {
    if (Region* const region = find_region(address); region != nullptr) return region;
    if (address >> (region_bits + middle_bits + root_bits) != 0) return nullptr;
    Locked held(growth);
    Middle* const middle = child(root[address >> (region_bits + middle_bits)]);
    return child(middle->regions[(address >> region_bits) % (std::size_t{1} << middle_bits)]);
}

}  // namespace holdfast::shadow
