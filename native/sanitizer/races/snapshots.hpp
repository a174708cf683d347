// Snapshots: what a thread knew at a moment, kept by ThreadSanitizer under an address that stands for it. The
// thread releases there, others acquire from there.
//
// Most have an address of their own. It belongs to one slot for good: of one slot, the later of two snapshots
// knows all that the earlier one does, so a release, which adds to what is there, is as good as one that
// replaces it; and it needs no access to memory that ThreadSanitizer would have to remember. A *stand-in* has
// the address of a location, for a snapshot that a write has left there (races/feed.hpp).
//
// Other threads count themselves in snapshots and give them back, so each has a line of its own.
#pragma once

#include <cstdint>

#include "sanitizer/core/threads.hpp"

namespace fencepost::races {

struct alignas(64) Snapshot {
    void* address;
    std::uint64_t number;  // among those of the slot
    Slot slot;
    std::uint32_t holders;
    Snapshot* next;  // of the slot's that nobody holds

    bool is_stand_in() const { return address != this; }
    bool held_once() const { return __atomic_load_n(&holders, __ATOMIC_ACQUIRE) == 1; }
};

void hold(Snapshot&);
// Does nothing for null.
void let_go(Snapshot*);

Snapshot* make_stand_in(void* address);
// The location will be gone, but others still hold it.
void give_own_address(Snapshot& stand_in);

// For the thread that owns a slot: the snapshots that it has read by relaxed reads and that an acquire fence
// will acquire (A without C), and the one that its relaxed writes publish (R).
class alignas(128) SyncListener {
  public:
    bool knows(Slot slot, std::uint64_t number) const { return known_[slot] >= number; }
    bool knows(Snapshot const& s) const { return knows(s.slot, s.number); }
    Snapshot* fenced() const { return fenced_; }

    // The number of what it knows now, which is released somewhere just then.
    std::uint64_t next_number() { return known_[slot_] = ++taken_; }
    // A snapshot of now, in place of an old one if that serves no more.
    [[nodiscard]] Snapshot* take_in_place_of(Snapshot* old);

    // C learns it.
    void acquire(void* address, Slot, std::uint64_t number);
    void acquire(Snapshot const& s) { acquire(s.address, s.slot, s.number); }

    // A learns it.
    bool has_deferred(Slot slot, std::uint64_t number) const {
        return knows(slot, number) || (deferred_[slot] != nullptr && deferred_[slot]->number >= number);
    }
    void defer(Snapshot&);

    void acquire_fence();
    void release_fence() { fenced_ = take_in_place_of(fenced_); }

    bool belongs_to(Thread const& t) const { return known_ != nullptr && thread_ == t.id; }
    void pass_to(Thread const&);

  private:
    void forget(Slot);
    void forget_deferred();
    Snapshot* unused();
    void free(Snapshot&);

    std::uint32_t thread_;  // to whom it belongs
    Slot slot_;
    Snapshot* fenced_;      // R; null: it has made no release fence
    std::uint64_t taken_;   // number of the last snapshot of this slot
    std::uint64_t* known_;  // per slot: up to which number C knows it; null: nobody has owned it yet
    Snapshot** deferred_;   // per slot: the latest that was deferred, unless C knows it
    Slot* deferred_slots_;
    std::uint32_t deferred_count_;
    Snapshot* unused_;
    alignas(64) Snapshot* let_go_;  // by others, too

    friend void let_go(Snapshot*);
};

void start_listeners();
extern SyncListener* listeners;  // by slot
SyncListener* make_listener(Thread&);
// Null if no slot is left for the thread.
inline SyncListener* listener_of(Thread& t) {
    if (t.slot == no_slot || !listeners[t.slot].belongs_to(t)) [[unlikely]]
        return make_listener(t);
    return &listeners[t.slot];
}

}  // namespace fencepost::races
