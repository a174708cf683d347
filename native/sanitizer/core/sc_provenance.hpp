// How threads come to be ordered under SC, as far as it is remembered: for reports.
//
// Each thread keeps its last *links*: accesses by which its SC clock learned something, with the access
// before it at the same location, from which it learned it. For each slot it knows by which link its SC clock
// was last raised. So the chain from a write to whoever comes after it under SC can be followed backwards,
// from link to link, while they are still remembered.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/core/clock.hpp"
#include "sanitizer/core/orders.hpp"
#include "sanitizer/system/processor.hpp"

namespace fencepost {

struct Thread;

// Who did what, and where.
struct AccessAt {
    std::uintptr_t pc;  // return address
    std::uint32_t thread;
    Access access;
    Order order;
};

// The same without the thread, in one word: addresses of code have 47 bits.
class PackedAccess {
  public:
    PackedAccess() = default;
    PackedAccess(std::uintptr_t pc, Access access, Order order)
        : word_(pc | std::uint64_t{static_cast<std::uint8_t>(access)} << 48 |
                std::uint64_t{static_cast<std::uint8_t>(order)} << 56) {}
    AccessAt by(std::uint32_t thread) const {
        return {word_ << 16 >> 16, thread, static_cast<Access>(word_ >> 48 & 0xff),
                static_cast<Order>(word_ >> 56)};
    }

  private:
    std::uint64_t word_;
};

struct Link {
    std::uint64_t moment;  // processor's time stamp; 0: none
    std::uintptr_t address;
    AccessAt from, to;
    bool reads_from;  // `to` reads what `from` wrote; else it only comes later
};

struct ScProvenance {
    static constexpr std::uint32_t size = 64;
    std::uint32_t made;
    Link last[size];
    std::uint32_t* raised_by;  // per slot: number of the link
};

// into ⊔= from, where that link is the reason.
void learn_by(ScProvenance&, Link const&, Time* into, Time const* from, std::uint32_t width);

// The chain of links by which `t` knows, under SC, the steps of this slot that end with the write of thread
// `writer`; the last link is t's own, of that number: the access that is explained may have made newer ones.
// Empty if it is not remembered.
struct Chain {
    static constexpr std::size_t most = 6;
    std::size_t count = 0;
    Link links[most];  // from the write on
};
Chain find_chain(Thread const& t, std::uint32_t number, Slot slot, std::uint32_t writer);

}  // namespace fencepost
