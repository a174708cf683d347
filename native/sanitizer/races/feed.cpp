#include "sanitizer/races/feed.hpp"

#include <cstddef>

#include "sanitizer/core/threads.hpp"
#include "sanitizer/races/snapshots.hpp"
#include "sanitizer/system/memory.hpp"

namespace fencepost::races {

constinit thread_local bool has_made_release_fence [[gnu::tls_model("initial-exec")]] = false;

// A message of other snapshots than the one under the location's address, or one that somebody has in mind.
struct Carried {
    InPlaceSnapshot in_place;
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

InPlaceSnapshot in_place_of(RaceMessage const& m) {
    Carried const* const c = carried(m);
    return c != nullptr ? c->in_place : InPlaceSnapshot(m.word);
}

void set_in_place(RaceMessage& m, InPlaceSnapshot u) {
    Carried* const c = carried(m);
    if (c != nullptr)
        c->in_place = u;
    else
        m.word = u.word();
}

Carried& make_carried(RaceMessage& m) {
    Carried* c = carried(m);
    if (c != nullptr) return *c;
    c = static_cast<Carried*>(memory::allocate(sizeof(Carried)));
    c->in_place = InPlaceSnapshot(m.word);
    c->stand_in = nullptr;
    c->count = 0;
    c->capacity = sizeof c->first / sizeof *c->first;
    c->snapshots = c->first;
    m.word = reinterpret_cast<std::uint64_t>(c);
    return *c;
}

// While somebody else holds it, what lies under the address stays as it is.
Snapshot& stand_in_for(RaceMessage& m, void* address) {
    Carried& c = make_carried(m);
    if (c.stand_in == nullptr) c.stand_in = make_stand_in(address);
    if (c.stand_in->held_once()) {
        c.stand_in->slot = c.in_place.slot();
        c.stand_in->number = c.in_place.number();
    }
    return *c.stand_in;
}

bool is_deferred_in_place(Carried const* c) {
    return c != nullptr && c->stand_in != nullptr && !c->stand_in->held_once();
}

void acquire_in_place(SyncListener& listener, RaceMessage& m, void* address, bool acquires) {
    InPlaceSnapshot const u = in_place_of(m);
    if (!u.counts()) return;
    if (acquires)
        listener.acquire(address, u.slot(), u.number());
    else if (!listener.has_deferred(u.slot(), u.number()))
        listener.defer(stand_in_for(m, address));
}

void forget(RaceMessage& m) {
    if (Carried* const c = carried(m)) {
        c->end();
        memory::release(c, sizeof(Carried));
    }
    m = {};
}

}  // namespace

void start() {
    start_listeners();
    start_allocations();
    forget_race_message = forget;
}

void acquire_carried(Thread& t, RaceMessage& m, void* address, bool acquires) {
    SyncListener* const listener = listener_of(t);
    if (listener == nullptr) return;
    acquire_in_place(*listener, m, address, acquires);
    Carried const* const c = carried(m);
    if (c == nullptr) return;
    for (std::uint32_t i = 0; i < c->count; ++i) {
        if (acquires)
            listener->acquire(*c->snapshots[i]);
        else
            listener->defer(*c->snapshots[i]);
    }
}

bool releases_in_place(Thread& t, RaceMessage const& m, bool replaces) {
    SyncListener const* const listener = listener_of(t);
    if (listener == nullptr || is_deferred_in_place(carried(m))) return false;
    InPlaceSnapshot const u = in_place_of(m);
    return replaces || listener->knows(u.slot(), u.number());
}

void publish_carried(Thread& t, RaceMessage& m, bool release, bool in_place) {
    SyncListener* const listener = listener_of(t);
    if (listener == nullptr) return;
    set_in_place(
        m, in_place ? InPlaceSnapshot(t.slot, listener->next_number(), true) : in_place_of(m).not_counting());
    if (release && !in_place) {
        Snapshot*& own = make_carried(m).place_for(t.slot);
        own = listener->take_in_place_of(own);
        return carried(m)->let_go_if([&](Snapshot const& s) { return s.slot != t.slot; });
    }
    Snapshot* const fenced = release ? nullptr : listener->fenced();
    Carried* const c = carried(m);
    if (fenced == nullptr && c == nullptr) return;
    Carried& kept = make_carried(m);
    if (fenced != nullptr && kept.count == 1 && kept.snapshots[0] == fenced) return;
    kept.let_go_of_all();
    if (fenced == nullptr) return;
    hold(*fenced);
    kept.add() = fenced;
}

void extend_carried(Thread& t, RaceMessage& m, bool release, bool in_place) {
    SyncListener* const listener = listener_of(t);
    if (listener == nullptr) return;
    InPlaceSnapshot const u = in_place_of(m);
    Snapshot* const fenced = listener->fenced();
    if (in_place) {
        set_in_place(m, InPlaceSnapshot(t.slot, listener->next_number(), true));
        if (Carried* const c = carried(m))
            c->let_go_if([&](Snapshot const& s) { return listener->knows(s); });
    } else if (release) {
        // What the thread knows, its new snapshot knows too.
        Carried& c = make_carried(m);
        if (listener->knows(u.slot(), u.number())) c.in_place = u.not_counting();
        Snapshot*& own = c.place_for(t.slot);
        own = listener->take_in_place_of(own);
        c.let_go_if([&](Snapshot const& s) { return s.slot != t.slot && listener->knows(s); });
    } else if (fenced != nullptr && !(u.counts() && u.slot() == t.slot && u.number() >= fenced->number)) {
        Snapshot*& own = make_carried(m).place_for(t.slot);
        if (own != nullptr && own->number >= fenced->number) return;
        let_go(own);
        hold(*fenced);
        own = fenced;
    }
}

void acquire_fence(Thread& t) {
    if (SyncListener* const listener = listener_of(t)) listener->acquire_fence();
}

void release_fence(Thread& t) {
    SyncListener* const listener = listener_of(t);
    if (listener == nullptr) return;
    listener->release_fence();
    has_made_release_fence = true;
}

}  // namespace fencepost::races
