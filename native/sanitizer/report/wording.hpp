// The words for accesses and orders.
#pragma once

#include "sanitizer/core/orders.hpp"

namespace fencepost {

// In JSON.
constexpr char const* name_of(Access access) {
    constexpr char const* names[] = {"load", "store", "rmw", "cas", "wait", "fence", "synchronisation"};
    return names[static_cast<int>(access)];
}
constexpr char const* name_of(Order order) {
    constexpr char const* names[] = {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
    return names[static_cast<int>(order)];
}

// In sentences about an access itself.
constexpr char const* noun_for(Access access) {
    constexpr char const* nouns[] = {"load",  "store", "read-modify-write", "compare-and-exchange", "wait",
                                     "fence", "access"};
    return nouns[static_cast<int>(access)];
}

// In sentences about the accesses before it.
constexpr char const* word_for(Access access) {
    constexpr char const* words[] = {"read", "write", "read-modify-write", "compare-and-exchange",
                                     "wait", "fence", "synchronisation"};
    return words[static_cast<int>(access)];
}

}  // namespace fencepost
