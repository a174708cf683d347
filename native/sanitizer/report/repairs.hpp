// What would repair a violation, as far as the chain that orders the two accesses under SC is known. A link
// by which a thread reads what another wrote asks for release and acquire; one by which it only comes later
// asks for an order in S on both sides: by SC fences or seq_cst accesses. Of these the cheapest are taken,
// and only such as work when they are tried (trial.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/core/sc_provenance.hpp"

namespace fencepost {

struct Repair {
    bool fence;  // else a stronger order
    Order order;
    std::uint32_t thread;          // or both_threads
    std::uintptr_t after, before;  // of a fence; 0: not known
    std::uintptr_t at;             // of an order
};

inline constexpr std::uint32_t both_threads = UINT32_MAX;

struct Repairs {
    static constexpr std::size_t most = 3 * Chain::most + 3;
    std::size_t count = 0;
    Repair list[most];
};

enum class Tried {
    not_known,  // the chain is not, or there is no room
    enough,     // the repairs that there are remove the violation
    extended,   // and now they do
};

// Tries the repairs on a violation: from the write that is missed, along the chain, to the access that misses
// it. Adds what is needed besides.
Tried try_repairs(Repairs&, AccessAt const& missed, std::uintptr_t address, Chain const&, AccessAt const& by);

// Of a data race: the chain is what passed last from the thread of the one access to that of the other. Empty
// if no stronger order along it would order the two.
Repairs find_race_repairs(Chain const&);

}  // namespace fencepost
