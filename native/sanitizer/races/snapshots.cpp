#include "sanitizer/races/snapshots.hpp"

#include <cstddef>

#include "sanitizer/races/tsan.hpp"
#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/options.hpp"

namespace fencepost::races {

Ear* ears;

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
        ears[s->slot].free(*s);
}

Snapshot* make_stand_in(void* address) {
    auto* const s = static_cast<Snapshot*>(memory::allocate(sizeof(Snapshot)));
    *s = {.address = address, .number = 0, .slot = 0, .holders = 1, .next = nullptr};
    return s;
}

// Nothing copies what lies under an address, so this thread has to learn it and pass on what it knows: a race
// may be missed, but none is made up.
void give_own_address(Snapshot& stand_in) {
    __tsan_acquire(stand_in.address);
    __tsan_release(&stand_in);
    __atomic_store_n(&stand_in.address, static_cast<void*>(&stand_in), __ATOMIC_RELEASE);
}

void start_ears() {
    ears = array_for_slots<Ear>();
}

Ear* make_ear(Thread& t) {
    if (t.slot == no_slot && !take_slot(t)) return nullptr;
    Ear& ear = ears[t.slot];
    ear.pass_to(t);
    return &ear;
}

// A slot has a new owner. Whoever comes to own one knows all that was told in its name before, so numbers go
// on.
void Ear::pass_to(Thread const& t) {
    if (known_ == nullptr) {
        known_ = array_for_slots<std::uint64_t>();
        heard_ = array_for_slots<Snapshot*>();
        heard_from_ = array_for_slots<Slot>();
    }
    let_go(fenced_);
    fenced_ = nullptr;
    forget_heard();
    __builtin_memset(known_, 0, slot_count * sizeof *known_);
    slot_ = t.slot;
    known_[slot_] = taken_;
    thread_ = t.id;
}

Snapshot* Ear::unused() {
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

void Ear::free(Snapshot& s) {
    s.next = __atomic_load_n(&let_go_, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&let_go_, &s.next, &s, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
}

Snapshot* Ear::take_in_place_of(Snapshot* old) {
    if (old == nullptr || old->slot != slot_ || old->is_stand_in() || !old->held_once()) {
        let_go(old);
        old = unused();
    }
    __tsan_release(old->address);
    old->number = next_number();
    return old;
}

void Ear::acquire(void* address, Slot slot, std::uint64_t number) {
    if (knows(slot, number)) return;
    __tsan_acquire(address);
    known_[slot] = number;
    if (heard_[slot] != nullptr && heard_[slot]->number <= number) forget(slot);
}

void Ear::keep_in_mind(Snapshot& s) {
    if (has_in_mind(s.slot, s.number)) return;
    Snapshot*& heard = heard_[s.slot];
    if (heard == nullptr) heard_from_[heard_count_++] = s.slot;
    let_go(heard);
    hold(s);
    heard = &s;
}

void Ear::forget(Slot slot) {
    let_go(heard_[slot]);
    heard_[slot] = nullptr;
    std::uint32_t i = 0;
    while (heard_from_[i] != slot) ++i;
    heard_from_[i] = heard_from_[--heard_count_];
}

void Ear::forget_heard() {
    while (heard_count_ != 0) forget(heard_from_[heard_count_ - 1]);
}

void Ear::acquire_fence() {
    while (heard_count_ != 0) {
        Snapshot const& s = *heard_[heard_from_[heard_count_ - 1]];
        acquire(__atomic_load_n(&s.address, __ATOMIC_ACQUIRE), s.slot, s.number);  // and forgets it
    }
}

}  // namespace fencepost::races
