// Would a repair work? Tries it on what is known of the run: the write that was missed, the chain by which
// the access comes after it under SC, and the fences that stand between these.
//
// The rules are those of robustness.hpp, in the order of seq-cst.md, but each clock is one bit: does it know
// the write, or a newer one of its location? This is enough, and a repair that works here works in the whole
// run. Every rule only adds knowledge, and the knowledge of a write comes from events after it. The events
// that are left out could only add more; a message is read here only where the run has read it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/core/sc_provenance.hpp"

namespace fencepost {

// The accesses of the chain in the order of the run: the write, both ends of each link, the access that
// misses the write. Two that are one (a thread has read what it passes on) are there once.
class Trial {
  public:
    struct Event {
        AccessAt at;
        std::uintptr_t address;
        std::uint8_t gap;    // number of the gap before it; `no_gap`: it follows in another thread
        std::uint8_t reads;  // event whose message it reads; `nothing`
        bool sync() const { return at.access == Access::synchronisation; }
    };
    static constexpr std::size_t most = 2 * Chain::most + 2;
    static constexpr std::uint8_t no_gap = UINT8_MAX, nothing = UINT8_MAX;
    static_assert(most < no_gap);

    Trial(AccessAt const& missed, std::uintptr_t address, Chain const&, AccessAt const& by);

    std::size_t count() const { return count_; }
    Event const& event(std::size_t i) const { return events_[i]; }
    Chain const& chain() const { return chain_; }

    // What is changed: the orders of accesses, and SC fences in gaps.
    struct Changes {
        Order orders[most];
        bool fences[Chain::most + 1];
    };
    Changes none() const;
    // Does the access know the write then?
    bool works(Changes const&) const;

  private:
    void add(AccessAt const& at, std::uintptr_t address, std::size_t gap, std::size_t reads);

    Chain const& chain_;
    std::size_t count_ = 0;
    Event events_[most];
};

}  // namespace fencepost
