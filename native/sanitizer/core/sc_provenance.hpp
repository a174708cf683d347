// How threads come to be ordered under SC, as far as it is remembered: for reports.
//
// Each thread keeps its last *links*: accesses by which its SC clock learned something, with the access
// before it, from which it learned it, and where in the other thread that one stood: after how many links and
// fences of that thread. So the chain from a write to whoever comes after it under SC can be searched for
// backwards, from link to link, while they are still remembered; and it is known which fences stand between
// two accesses of it. How many a thread keeps is a setting (`history`): a run that has forgotten too many can
// be made again with more.
//
// What a thread has noted outlives it for a while: the chain may lead through threads that have ended.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/core/clock.hpp"
#include "sanitizer/core/orders.hpp"

namespace fencepost {

struct Thread;
struct ScProvenance;

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

// A moment of a thread.
struct Moment {
    ScProvenance const* of;
    std::uint32_t thread;
    Slot slot;
    Time time;
    std::uint32_t links;   // that it had made before
    std::uint32_t fences;  // likewise
};

struct Link {
    std::uintptr_t address;
    AccessAt from, to;
    Moment before;            // when `from` was made
    std::uint32_t to_fences;  // that its thread had made before `to`
    bool reads_from;          // `to` reads what `from` wrote; else it only comes later
};

struct FenceNote {
    Time time;  // of the thread before the fence
    Order order;
};

// Others look at the fences whenever they learn from the thread, but at its links only for reports.
struct alignas(64) ScProvenance {
    static std::uint32_t most_links, most_fences;  // powers of two
    std::uint32_t thread;
    std::uint32_t fences;  // made
    bool alive;
    Slot slot;           // of the thread, when it made its last fence
    ScProvenance* next;  // all of them
    ScProvenance* next_retired;
    Link* last;
    FenceNote* last_fences;
    alignas(64) std::uint32_t made;  // links

    Link& link(std::uint32_t number) const { return last[number & (most_links - 1)]; }
    FenceNote& fence(std::uint32_t number) const { return last_fences[number & (most_fences - 1)]; }
};

// Before the first thread: how many links each keeps.
void set_history(std::uint32_t links);

// A thread begins, with nothing noted; and ends. threads_lock is held.
ScProvenance* make_provenance(std::uint32_t thread);
void retire(ScProvenance*);

// The newest one.
void add_link(ScProvenance&, Link const&);
void note_fence(Thread&, Order);

// The moment of the thread just now; and that of a stamp, which knew so many links, and at least so many
// fences.
Moment moment_of(Thread const&);
Moment moment_of(ScProvenance const&, Slot, Time, std::uint32_t links, std::uint32_t fences);

// The collector numbers times anew: calls rename(slot, time).
template <class Rename>
void rename_provenance(ScProvenance* all, Rename rename);
extern ScProvenance* all_provenance;

// The fences of one thread between two accesses of the chain, in their order.
struct Fences {
    static constexpr std::size_t most = 6;
    std::size_t count = 0;
    Order orders[most];

    void add(Order);
    bool has(Order order) const {
        for (std::size_t i = 0; i < count; ++i)
            if (orders[i] == order) return true;
        return false;
    }
};

// The chain of links by which a thread comes after a write, or after whatever else another thread did, under
// SC; the first begins in the thread of the write. `gaps[i]` is before link i, the last gap after the last.
struct Chain {
    static constexpr std::size_t most = 16;  // no shortest one leads through a thread twice
    std::size_t count = 0;
    Link links[most];
    Fences gaps[most + 1];
};

// The write: by whom, at which step of its own (slot `no_slot`: that is not known), and where.
struct SoughtWrite {
    std::uint32_t thread;
    Slot slot;
    Time time;
    std::uintptr_t address;
};

// By which `t` comes after the write, by links that it had made when there were `made` of them: the access
// that is explained may have made newer ones. Empty if it is not remembered.
Chain find_chain(Thread const& t, std::uint32_t made, SoughtWrite const&);
// What passed last from the other thread to this one.
Chain find_last_chain(Thread const& t, std::uint32_t other);

template <class Rename>
void rename_provenance(ScProvenance* all, Rename rename) {
    for (ScProvenance* p = all; p != nullptr; p = p->next) {
        std::uint32_t const links = p->made < p->most_links ? p->made + 1 : p->most_links;
        for (std::uint32_t i = 0; i < links; ++i)
            p->last[i].before.time = rename(p->last[i].before.slot, p->last[i].before.time);
        std::uint32_t const fences = p->fences < p->most_fences ? p->fences + 1 : p->most_fences;
        for (std::uint32_t i = 0; i < fences && p->slot != no_slot; ++i)
            p->last_fences[i].time = rename(p->slot, p->last_fences[i].time);
    }
}

}  // namespace fencepost
