#include "sanitizer/races/feed.hpp"

#include <cstddef>

#include "sanitizer/core/threads.hpp"
#include "sanitizer/races/allocations.hpp"
#include "sanitizer/races/snapshots.hpp"
#include "sanitizer/system/memory.hpp"

namespace fencepost::races {

constinit thread_local bool has_made_release_fence [[gnu::tls_model("initial-exec")]] = false;

// A message of other snapshots than the one under the location's address, or one that somebody has in mind.
struct Carried {
    Under under;
    Snapshot* stand_in;  // for what lies under the address; null: nobody has asked for one
    std::uint32_t count, capacity;
    Snapshot** snapshots;
    Snapshot* first[4];

    Snapshot*& add() {
        if (count == capacity) enlarge();
        return snapshots[count++] = nullptr;
    }
    // The place for snapshots of this slot.
    Snapshot*& place_for(Slot slot) {
        for (std::uint32_t i = 0; i < count; ++i)
            if (snapshots[i]->slot == slot) return snapshots[i];
        return add();
    }
    // Of those that `known` holds for.
    template <class Known>
    void let_go_if(Known known) {
        std::uint32_t kept = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            if (known(*snapshots[i]))
                let_go(snapshots[i]);
            else
                snapshots[kept++] = snapshots[i];
        }
        count = kept;
    }
    void let_go_of_all() {
        while (count != 0) let_go(snapshots[--count]);
    }
    void end() {
        let_go_of_all();
        release_array();
        if (stand_in != nullptr && !stand_in->held_once()) give_own_address(*stand_in);
        let_go(stand_in);
    }

  private:
    void enlarge() {
        auto** const moved = memory::allocate_array<Snapshot*>(2 * capacity);
        __builtin_memcpy(moved, snapshots, count * sizeof *moved);
        release_array();
        snapshots = moved;
        capacity *= 2;
    }
    void release_array() {
        if (snapshots != first) memory::release_array(snapshots, capacity);
    }
};

namespace {

Under under(Message const& m) {
    Carried const* const c = m.carried();
    return c != nullptr ? c->under : Under(m.word);
}

void put_under(Message& m, Under u) {
    Carried* const c = m.carried();
    if (c != nullptr)
        c->under = u;
    else
        m.word = u.word();
}

Carried& make_carried(Message& m) {
    Carried* c = m.carried();
    if (c != nullptr) return *c;
    c = static_cast<Carried*>(memory::allocate(sizeof(Carried)));
    c->under = Under(m.word);
    c->stand_in = nullptr;
    c->count = 0;
    c->capacity = sizeof c->first / sizeof *c->first;
    c->snapshots = c->first;
    m.word = reinterpret_cast<std::uint64_t>(c);
    return *c;
}

// While somebody else holds it, what lies under the address stays as it is.
Snapshot& stand_in_for_under(Message& m, void* address) {
    Carried& c = make_carried(m);
    if (c.stand_in == nullptr) c.stand_in = make_stand_in(address);
    if (c.stand_in->held_once()) {
        c.stand_in->slot = c.under.slot();
        c.stand_in->number = c.under.number();
    }
    return *c.stand_in;
}

bool somebody_has_in_mind_what_is_under(Carried const* c) {
    return c != nullptr && c->stand_in != nullptr && !c->stand_in->held_once();
}

void hear_under(Ear& ear, Message& m, void* address, bool acquires) {
    Under const u = under(m);
    if (!u.counts()) return;
    if (acquires)
        ear.acquire(address, u.slot(), u.number());
    else if (!ear.has_in_mind(u.slot(), u.number()))
        ear.keep_in_mind(stand_in_for_under(m, address));
}

}  // namespace

void start() {
    start_ears();
    start_allocations();
}

void hear_carried(Thread& t, Message& m, void* address, bool acquires) {
    Ear* const ear = ear_of(t);
    if (ear == nullptr) return;
    hear_under(*ear, m, address, acquires);
    Carried const* const c = m.carried();
    if (c == nullptr) return;
    for (std::uint32_t i = 0; i < c->count; ++i) {
        if (acquires)
            ear->acquire(*c->snapshots[i]);
        else
            ear->keep_in_mind(*c->snapshots[i]);
    }
}

bool releases_in_place(Thread& t, Message const& m, bool replaces) {
    Ear const* const ear = ear_of(t);
    if (ear == nullptr || somebody_has_in_mind_what_is_under(m.carried())) return false;
    Under const u = under(m);
    return replaces || ear->knows(u.slot(), u.number());
}

void tell_something(Thread& t, Message& m, bool release, bool in_place) {
    Ear* const ear = ear_of(t);
    if (ear == nullptr) return;
    put_under(m, in_place ? Under(t.slot, ear->next_number(), true) : under(m).that_does_not_count());
    if (release && !in_place) {
        Snapshot*& own = make_carried(m).place_for(t.slot);
        own = ear->take_in_place_of(own);
        return m.carried()->let_go_if([&](Snapshot const& s) { return s.slot != t.slot; });
    }
    Snapshot* const fenced = release ? nullptr : ear->fenced();
    Carried* const c = m.carried();
    if (fenced == nullptr && c == nullptr) return;
    Carried& carried = make_carried(m);
    if (fenced != nullptr && carried.count == 1 && carried.snapshots[0] == fenced) return;
    carried.let_go_of_all();
    if (fenced == nullptr) return;
    hold(*fenced);
    carried.add() = fenced;
}

void add_to_message(Thread& t, Message& m, bool release, bool in_place) {
    Ear* const ear = ear_of(t);
    if (ear == nullptr) return;
    Under const u = under(m);
    Snapshot* const fenced = ear->fenced();
    if (in_place) {
        put_under(m, Under(t.slot, ear->next_number(), true));
        if (Carried* const c = m.carried()) c->let_go_if([&](Snapshot const& s) { return ear->knows(s); });
    } else if (release) {
        // What the thread knows, its new snapshot knows too.
        Carried& c = make_carried(m);
        if (ear->knows(u.slot(), u.number())) c.under = u.that_does_not_count();
        Snapshot*& own = c.place_for(t.slot);
        own = ear->take_in_place_of(own);
        c.let_go_if([&](Snapshot const& s) { return s.slot != t.slot && ear->knows(s); });
    } else if (fenced != nullptr && !(u.counts() && u.slot() == t.slot && u.number() >= fenced->number)) {
        Snapshot*& own = make_carried(m).place_for(t.slot);
        if (own != nullptr && own->number >= fenced->number) return;
        let_go(own);
        hold(*fenced);
        own = fenced;
    }
}

void acquire_fence(Thread& t) {
    if (Ear* const ear = ear_of(t)) ear->acquire_fence();
}

void release_fence(Thread& t) {
    Ear* const ear = ear_of(t);
    if (ear == nullptr) return;
    ear->release_fence();
    has_made_release_fence = true;
}

void forget(Message& m) {
    if (Carried* const c = m.carried()) {
        c->end();
        memory::release(c, sizeof(Carried));
    }
    m = {};
}

}  // namespace fencepost::races
