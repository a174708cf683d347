// Kinds of access, and the memory orders of C11 as the compilers pass them.
#pragma once

#include <cstdint>

namespace fencepost {

enum class Access : std::uint8_t { load, store, rmw, cas, wait, fence, synchronisation };

constexpr bool reads(Access a) {
    return a != Access::store && a != Access::fence;
}
constexpr bool writes(Access a) {
    return a == Access::store || a == Access::rmw || a == Access::cas;
}

enum class Order : std::uint8_t { relaxed, consume, acquire, release, acq_rel, seq_cst };

constexpr bool acquires(Order o) {
    return o != Order::relaxed && o != Order::release;
}
constexpr bool releases(Order o) {
    return o == Order::release || o == Order::acq_rel || o == Order::seq_cst;
}

// gcc may set bits for hardware lock elision above the lowest three.
constexpr Order order_of(int order) {
    int const plain = order & 7;
    return static_cast<Order>(plain <= 5 ? plain : 5);
}

}  // namespace fencepost
