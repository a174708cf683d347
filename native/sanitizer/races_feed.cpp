#include "races_feed.hpp"

#include <cstddef>

#include "memory.hpp"
#include "options.hpp"
#include "races_allocations.hpp"
#include "races_tsan.hpp"
#include "threads.hpp"

namespace holdfast::races {

// Of one thread, the later of two snapshots knows all that the earlier one does.
struct Snapshot {
    std::uint64_t word;  // its address is the one that ThreadSanitizer knows
    std::uint32_t holders;
    Slot slot;
    std::uint64_t number;  // among those of the slot
};

namespace {

// What a thread has heard and not used yet (A without C), and what its relaxed writes tell (R).
struct Ear {
    std::uint32_t thread;  // to whom it belongs
    Snapshot* fenced;      // R; null: it has made no release fence
    std::uint64_t taken;   // number of the last snapshot of this slot
    std::uint64_t* known;  // per slot: up to which number C knows it
    Snapshot** heard;      // per slot: the latest that was heard
    Slot* heard_from;
    std::uint32_t heard_count;
};

Ear* ears;  // by slot

template <class T>
T* array_for_slots() {
    return static_cast<T*>(memory::pages(options.threads_limit * sizeof(T)));
}

void hold(Snapshot& s) {
    __atomic_fetch_add(&s.holders, 1, __ATOMIC_RELAXED);
}

void let_go(Snapshot* s) {
    if (s != nullptr && __atomic_sub_fetch(&s->holders, 1, __ATOMIC_ACQ_REL) == 0)
        memory::release(s, sizeof(Snapshot));
}

bool held_once(Snapshot const& s) {
    return __atomic_load_n(&s.holders, __ATOMIC_ACQUIRE) == 1;
}

void let_go_of_heard(Ear& ear) {
    for (std::uint32_t i = 0; i < ear.heard_count; ++i) {
        let_go(ear.heard[ear.heard_from[i]]);
        ear.heard[ear.heard_from[i]] = nullptr;
    }
    ear.heard_count = 0;
}

// A slot has a new owner. Whoever comes to own one knows all that was told in its name before, so numbers go
// on.
void pass_to(Ear& ear, Thread const& t) {
    if (ear.known == nullptr) {
        ear.known = array_for_slots<std::uint64_t>();
        ear.heard = array_for_slots<Snapshot*>();
        ear.heard_from = array_for_slots<Slot>();
    }
    let_go(ear.fenced);
    ear.fenced = nullptr;
    let_go_of_heard(ear);
    __builtin_memset(ear.known, 0, slot_count * sizeof *ear.known);
    ear.known[t.slot] = ear.taken;
    ear.thread = t.id;
}

// Null if no slot is left for the thread.
Ear* ear_of(Thread& t) {
    if (t.slot == no_slot && !take_slot(t)) return nullptr;
    Ear& ear = ears[t.slot];
    if (ear.known == nullptr || ear.thread != t.id) pass_to(ear, t);
    return &ear;
}

// A store with release replaces whatever was known under the address.
void take(Snapshot& s, Ear& ear, Slot slot) {
    __real___tsan_atomic64_store(&s.word, 0, __ATOMIC_RELEASE);
    s.slot = slot;
    s.number = ear.known[slot] = ++ear.taken;
}

// What the thread knows now, in place of an old snapshot if nobody else holds that one.
Snapshot* take_in_place_of(Snapshot* old, Ear& ear, Slot slot) {
    if (old == nullptr || !held_once(*old)) {
        let_go(old);
        old = static_cast<Snapshot*>(memory::allocate(sizeof(Snapshot)));
        old->holders = 1;
    }
    take(*old, ear, slot);
    return old;
}

void acquire(Ear& ear, Snapshot& s) {
    if (ear.known[s.slot] >= s.number) return;
    __tsan_acquire(&s.word);
    ear.known[s.slot] = s.number;
}

void keep_in_mind(Ear& ear, Snapshot& s) {
    Snapshot*& heard = ear.heard[s.slot];
    if (ear.known[s.slot] >= s.number || (heard != nullptr && heard->number >= s.number)) return;
    if (heard == nullptr) ear.heard_from[ear.heard_count++] = s.slot;
    let_go(heard);
    hold(s);
    heard = &s;
}

Snapshot*& add(Message& m) {
    if (m.count == m.capacity) {
        std::uint32_t const larger = m.capacity == 0 ? 4 : 2 * m.capacity;
        auto** const moved = memory::allocate_array<Snapshot*>(larger);
        if (m.count != 0) __builtin_memcpy(moved, m.snapshots, m.count * sizeof *moved);
        memory::release_array(m.snapshots, m.capacity);
        m.snapshots = moved;
        m.capacity = larger;
    }
    return m.snapshots[m.count++] = nullptr;
}

// The place for snapshots of this slot.
Snapshot*& place_for(Message& m, Slot slot) {
    for (std::uint32_t i = 0; i < m.count; ++i)
        if (m.snapshots[i]->slot == slot) return m.snapshots[i];
    return add(m);
}

// All but the first, which may serve again.
void let_go_of_others(Message& m) {
    while (m.count > 1) let_go(m.snapshots[--m.count]);
}

void carry_only_new(Message& m, Ear& ear, Slot slot) {
    let_go_of_others(m);
    Snapshot*& only = m.count == 0 ? add(m) : m.snapshots[0];
    only = take_in_place_of(only, ear, slot);
}

void empty(Message& m) {
    let_go_of_others(m);
    if (m.count == 1) let_go(m.snapshots[--m.count]);
}

}  // namespace

void start() {
    ears = array_for_slots<Ear>();
    start_allocations();
}

void hear(Thread& t, Message& m, bool acquires) {
    if (m.count == 0) return;
    Ear* const ear = ear_of(t);
    if (ear == nullptr) return;
    for (std::uint32_t i = 0; i < m.count; ++i) {
        if (acquires)
            acquire(*ear, *m.snapshots[i]);
        else
            keep_in_mind(*ear, *m.snapshots[i]);
    }
}

void tell(Thread& t, Message& m, bool release) {
    Ear* const ear = ear_of(t);
    if (ear == nullptr) return;
    if (release) return carry_only_new(m, *ear, t.slot);
    if (m.count == 1 && m.snapshots[0] == ear->fenced) return;
    empty(m);
    if (ear->fenced == nullptr) return;
    hold(*ear->fenced);
    add(m) = ear->fenced;
}

void pass_on(Thread& t, Message& m, bool acquire, bool release) {
    Ear* const ear = ear_of(t);
    if (ear == nullptr) return;
    if (release && acquire) return carry_only_new(m, *ear, t.slot);  // C knows all that was carried
    Snapshot* const fenced = ear->fenced;
    if (!release && fenced == nullptr) return;
    Snapshot*& own = place_for(m, t.slot);
    if (release) {
        own = take_in_place_of(own, *ear, t.slot);
    } else if (own == nullptr || own->number < fenced->number) {
        let_go(own);
        hold(*fenced);
        own = fenced;
    }
}

void acquire_fence(Thread& t) {
    Ear* const ear = ear_of(t);
    if (ear == nullptr) return;
    for (std::uint32_t i = 0; i < ear->heard_count; ++i) acquire(*ear, *ear->heard[ear->heard_from[i]]);
    let_go_of_heard(*ear);
}

void release_fence(Thread& t) {
    Ear* const ear = ear_of(t);
    if (ear != nullptr) ear->fenced = take_in_place_of(ear->fenced, *ear, t.slot);
}

void forget(Message& m) {
    empty(m);
    memory::release_array(m.snapshots, m.capacity);
    m = {};
}

Called::Called(std::uintptr_t place) {
    __tsan_func_entry(reinterpret_cast<void*>(place));
}

Called::~Called() {
    __tsan_func_exit();
}

}  // namespace holdfast::races
