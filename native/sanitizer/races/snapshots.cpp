#include "sanitizer/races/snapshots.hpp"

#include <cstddef>

#include "sanitizer/races/tsan.hpp"
#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/options.hpp"

namespace fencepost::races {

SyncListener* listeners;

namespace {

template <class T>
T* array_for_slots() {
    return static_cast<T*>(memory::pages(options.threads_limit * sizeof(T)));
}

}  // namespace

void hold(Snapshot& s) {
    __atomic_fetch_add(&s.holders, 1, __ATOMIC_RELAXED);
}

void let_go(Snapshot* s) {
    if (s == nullptr || __atomic_sub_fetch(&s->holders, 1, __ATOMIC_ACQ_REL) != 0) return;
    if (s->is_stand_in())
        memory::release(s, sizeof(Snapshot));
    else
        listeners[s->slot].free(*s);
}

Snapshot* make_stand_in(void* address) {
    auto* const s = static_cast<Snapshot*>(memory::allocate(sizeof(Snapshot)));
    *s = {.address = address, .number = 0, .slot = 0, .holders = 1, .next = nullptr};
    return s;
}

// ThreadSanitizer cannot copy what it keeps for an address. So this thread acquires it, and releases all that
// it knows then: a race may be missed, but none is made up.
void give_own_address(Snapshot& stand_in) {
    __tsan_acquire(stand_in.address);
    __tsan_release(&stand_in);
    __atomic_store_n(&stand_in.address, static_cast<void*>(&stand_in), __ATOMIC_RELEASE);
}

void start_listeners() {
    listeners = array_for_slots<SyncListener>();
}

SyncListener* make_listener(Thread& t) {
    if (t.slot == no_slot && !take_slot(t)) return nullptr;
    SyncListener& listener = listeners[t.slot];
    listener.pass_to(t);
    return &listener;
}

// A slot has a new owner, which knows all that was published in its name before. So numbers go on.
void SyncListener::pass_to(Thread const& t) {
    if (known_ == nullptr) {
        known_ = array_for_slots<std::uint64_t>();
        deferred_ = array_for_slots<Snapshot*>();
        deferred_slots_ = array_for_slots<Slot>();
    }
    let_go(fenced_);
    fenced_ = nullptr;
    forget_deferred();
    __builtin_memset(known_, 0, slot_count * sizeof *known_);
    slot_ = t.slot;
    known_[slot_] = taken_;
    thread_ = t.id;
}

Snapshot* SyncListener::unused() {
    if (unused_ == nullptr) unused_ = __atomic_exchange_n(&let_go_, nullptr, __ATOMIC_ACQUIRE);
    Snapshot* s = unused_;
    if (s != nullptr) {
        unused_ = s->next;
        s->holders = 1;
    } else {
        s = static_cast<Snapshot*>(memory::for_good(sizeof(Snapshot)));
        *s = {.address = s, .number = 0, .slot = slot_, .holders = 1, .next = nullptr};
    }
    return s;
}

void SyncListener::free(Snapshot& s) {
    s.next = __atomic_load_n(&let_go_, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&let_go_, &s.next, &s, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
}

Snapshot* SyncListener::take_in_place_of(Snapshot* old) {
    if (old == nullptr || old->slot != slot_ || old->is_stand_in() || !old->held_once()) {
        let_go(old);
        old = unused();
    }
    __tsan_release(old->address);
    old->number = next_number();
    return old;
}

void SyncListener::acquire(void* address, Slot slot, std::uint64_t number) {
    if (knows(slot, number)) return;
    __tsan_acquire(address);
    known_[slot] = number;
    if (deferred_[slot] != nullptr && deferred_[slot]->number <= number) forget(slot);
}

void SyncListener::defer(Snapshot& s) {
    if (has_deferred(s.slot, s.number)) return;
    Snapshot*& deferred = deferred_[s.slot];
    if (deferred == nullptr) deferred_slots_[deferred_count_++] = s.slot;
    let_go(deferred);
    hold(s);
    deferred = &s;
}

void SyncListener::forget(Slot slot) {
    let_go(deferred_[slot]);
    deferred_[slot] = nullptr;
    std::uint32_t i = 0;
    while (deferred_slots_[i] != slot) ++i;
    deferred_slots_[i] = deferred_slots_[--deferred_count_];
}

void SyncListener::forget_deferred() {
    while (deferred_count_ != 0) forget(deferred_slots_[deferred_count_ - 1]);
}

void SyncListener::acquire_fence() {
    while (deferred_count_ != 0) {
        Snapshot const& s = *deferred_[deferred_slots_[deferred_count_ - 1]];
        acquire(__atomic_load_n(&s.address, __ATOMIC_ACQUIRE), s.slot, s.number);  // and forgets it
    }
}

}  // namespace fencepost::races
