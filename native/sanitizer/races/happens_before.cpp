#include "sanitizer/races/happens_before.hpp"

#include <cstddef>

#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/options.hpp"

namespace fencepost::races {

Watch watch;

namespace {

// A slot that a thread has, or had: then what it knew at its end.
struct SlotOwner {
    RaceClocks* clocks;  // null: it has ended
    std::uint32_t thread;
    Moment last;
};
SlotOwner* owners;
std::uint32_t slot_count;
RaceClocks* unused;

std::uint32_t most_slots_here() {
    return options.threads_limit < most_race_slots ? options.threads_limit : most_race_slots;
}

void let_go(Past* past) {
    if (past != nullptr && --past->holders == 0)
        memory::release(past, sizeof(Past) + past->width * sizeof(Epoch));
}

void set_epoch(RaceClocks& c, Epoch epoch) {
    c.epoch = c.known[c.slot] = epoch;
    c.stamp = epoch << slot_bits | c.slot;
}

void has_learned(RaceClocks& c) {
    let_go(c.past);
    c.past = nullptr;
}

void join_past(Epoch* into, Moment const& m) {
    for (std::uint32_t i = 0; i < m.past->width; ++i)
        if (into[i] < m.past->known[i]) into[i] = m.past->known[i];
    into[m.slot] = m.epoch;
}

void learn(RaceClocks& c, Moment const& m) {
    if (c.knows(m.slot, m.epoch)) return;
    join_past(c.known, m);
    has_learned(c);
}

// Until an acquire fence.
void defer(RaceClocks& c, Moment const& m) {
    if (c.knows(m.slot, m.epoch) || c.pending[m.slot] >= m.epoch) return;
    join_past(c.pending, m);
    c.has_pending = true;
}

// All that the thread knows. What it does from now on is later.
[[nodiscard]] Moment released(RaceClocks& c) {
    if (c.past == nullptr) {
        c.past = static_cast<Past*>(memory::allocate(sizeof(Past) + slot_count * sizeof(Epoch)));
        c.past->holders = 1;
        c.past->width = slot_count;
        for (std::uint32_t i = 0; i < slot_count; ++i) c.past->known[i] = c.known[i];
        c.past->known[c.slot] = 0;  // it is in the moment
    }
    ++c.past->holders;
    Moment const now{c.past, c.epoch, c.slot};
    set_epoch(c, c.epoch + 1);
    return now;
}

[[nodiscard]] Moment shared(Moment const& m) {
    ++m.past->holders;
    return m;
}

// What a location or an object carries: at most one moment of each slot.
struct Carried {
    std::uint32_t count, capacity;
    Moment* moments;
    Moment first[2];

    void clear() {
        while (count != 0) let_go(moments[--count].past);
    }
    void add(Moment const& m) {
        if (count == capacity) enlarge();
        moments[count++] = m;
    }
    // In place of an earlier one of the same slot; nothing if there is a later one.
    void add_latest(Moment const& m) {
        for (std::uint32_t i = 0; i < count; ++i) {
            if (moments[i].slot != m.slot) continue;
            Moment const earlier = moments[i].epoch < m.epoch ? moments[i] : m;
            if (moments[i].epoch < m.epoch) moments[i] = m;
            return let_go(earlier.past);
        }
        add(m);
    }
    // What the thread knows, its next moment will tell too.
    void drop_known_to(RaceClocks const& c) {
        std::uint32_t kept = 0;
        for (std::uint32_t i = 0; i < count; ++i) {
            if (c.knows(moments[i].slot, moments[i].epoch))
                let_go(moments[i].past);
            else
                moments[kept++] = moments[i];
        }
        count = kept;
    }
    void end() {
        clear();
        if (moments != first) memory::release_array(moments, capacity);
    }

  private:
    void enlarge() {
        auto* const larger = memory::allocate_array<Moment>(std::size_t{2} * capacity);
        for (std::uint32_t i = 0; i < count; ++i) larger[i] = moments[i];
        if (moments != first) memory::release_array(moments, capacity);
        moments = larger;
        capacity *= 2;
    }
};

Carried* carried(RaceMessage const& m) {
    return reinterpret_cast<Carried*>(m.word);
}

Carried& make_carried(RaceMessage& m) {
    if (m.word == 0) {
        auto* const c = static_cast<Carried*>(memory::allocate(sizeof(Carried)));
        c->count = 0;
        c->capacity = sizeof c->first / sizeof *c->first;
        c->moments = c->first;
        m.word = reinterpret_cast<std::uint64_t>(c);
    }
    return *carried(m);
}

RaceClocks* make_clocks() {
    RaceClocks* c = unused;
    if (c != nullptr) {
        unused = c->next;
        Epoch* const clocks[] = {c->known, c->pending};
        for (Epoch* clock : clocks) __builtin_memset(clock, 0, slot_count * sizeof(Epoch));
        *c = {};
        c->known = clocks[0];
        c->pending = clocks[1];
        return c;
    }
    c = static_cast<RaceClocks*>(memory::for_good(sizeof(RaceClocks)));
    std::size_t const bytes = most_slots_here() * sizeof(Epoch);
    c->known = static_cast<Epoch*>(memory::pages(bytes));
    c->pending = static_cast<Epoch*>(memory::pages(bytes));
    return c;
}

void release_clocks(RaceClocks& c) {
    let_go(c.past);
    let_go(c.fenced.past);
    c.past = c.fenced.past = nullptr;
    c.next = unused;
    unused = &c;
}

// A slot of a thread of whose end `c` knows serves again, and its epochs go on. False: there is none left.
bool take_slot(RaceClocks& c) {
    for (RaceSlot s = 0; s < slot_count; ++s) {
        SlotOwner& owner = owners[s];
        if (owner.clocks != nullptr || !c.knows(s, owner.last.epoch)) continue;
        let_go(owner.last.past);
        c.slot = s;
        set_epoch(c, owner.last.epoch + 1);
        owner = {&c, c.thread, {}};
        return true;
    }
    if (slot_count == most_slots_here()) return false;
    c.slot = slot_count++;
    set_epoch(c, 1);
    owners[c.slot] = {&c, c.thread, {}};
    return true;
}

RaceClocks* clocks_of(Thread& t) {
    if (t.race_clocks == nullptr && watch == Watch::all) stop_watching();
    return t.race_clocks;
}

}  // namespace

// The threads keep their clocks, which nobody looks at any more: other threads may be about to.
void stop_watching() {
    watch = Watch::part;
}

void watch_main(Thread& t) {
    watch = Watch::all;
    owners = static_cast<SlotOwner*>(memory::pages(most_slots_here() * sizeof(SlotOwner)));
    forget_race_message = forget_message;
    copy_of_race_message = copy_message;
    RaceClocks* const c = make_clocks();
    c->thread = t.id;
    take_slot(*c);
    t.race_clocks = c;
}

void thread_made(Thread& parent, Thread& child) {
    RaceClocks* const p = parent.race_clocks;
    if (p == nullptr) return;
    RaceClocks* const c = make_clocks();
    c->thread = child.id;
    Moment const start = released(*p);
    join_past(c->known, start);
    let_go(start.past);
    if (take_slot(*c))
        child.race_clocks = c;
    else
        release_clocks(*c);
}

void thread_not_made(Thread& child) {
    thread_ended(child);
}

void thread_ended(Thread& t) {
    RaceClocks* const c = t.race_clocks;
    if (c == nullptr) return;
    t.race_clocks = nullptr;
    owners[c->slot] = {nullptr, c->thread, released(*c)};
    release_clocks(*c);
}

void thread_joined(Thread& t, std::uint32_t child) {
    if (t.race_clocks == nullptr) return;
    for (RaceSlot s = 0; s < slot_count; ++s)
        if (owners[s].clocks == nullptr && owners[s].thread == child) learn(*t.race_clocks, owners[s].last);
}

void forked(Thread& t) {
    RaceClocks* const c = t.race_clocks;
    if (c == nullptr) return;
    for (RaceSlot s = 0; s < slot_count; ++s) {
        SlotOwner& owner = owners[s];
        if (owner.clocks == c) continue;
        if (owner.clocks != nullptr) owner = {nullptr, owner.thread, released(*owner.clocks)};
        c->known[s] = owner.last.epoch;
    }
    has_learned(*c);
}

void acquire_message(Thread& t, RaceMessage& m, bool acquire) {
    if (m.word == 0 && t.race_clocks != nullptr) return;
    RaceClocks* const c = clocks_of(t);
    if (c == nullptr) return;
    Carried const& carries = *carried(m);
    for (std::uint32_t i = 0; i < carries.count; ++i) {
        if (acquire)
            learn(*c, carries.moments[i]);
        else
            defer(*c, carries.moments[i]);
    }
}

void publish(Thread& t, RaceMessage& m, bool release) {
    RaceClocks* const c = clocks_of(t);
    if (c == nullptr) return;
    bool const tells = release || c->fenced.past != nullptr;
    if (m.word == 0 && !tells) return;
    Carried& carries = make_carried(m);
    carries.clear();
    if (tells) carries.add(release ? released(*c) : shared(c->fenced));
}

void extend(Thread& t, RaceMessage& m, bool release) {
    RaceClocks* const c = clocks_of(t);
    if (c == nullptr) return;
    if (release) {
        Carried& carries = make_carried(m);
        carries.drop_known_to(*c);
        carries.add(released(*c));
    } else if (c->fenced.past != nullptr) {
        make_carried(m).add_latest(shared(c->fenced));
    }
}

void acquire_fence(Thread& t) {
    RaceClocks* const c = clocks_of(t);
    if (c == nullptr || !c->has_pending) return;
    for (std::uint32_t i = 0; i < slot_count; ++i) {
        if (c->known[i] < c->pending[i]) c->known[i] = c->pending[i];
        c->pending[i] = 0;
    }
    c->has_pending = false;
    has_learned(*c);
}

void release_fence(Thread& t) {
    RaceClocks* const c = clocks_of(t);
    if (c == nullptr) return;
    let_go(c->fenced.past);
    c->fenced = released(*c);
}

RaceMessage copy_message(RaceMessage const& m) {
    RaceMessage copy{};
    Carried const& carries = *carried(m);
    for (std::uint32_t i = 0; i < carries.count; ++i) make_carried(copy).add(shared(carries.moments[i]));
    return copy;
}

// A thread beside the schedule must not touch what others share: it leaves the message where it is.
void forget_message(RaceMessage& m) {
    Carried* const c = this_thread != nullptr && watches(*this_thread) ? carried(m) : nullptr;
    if (c != nullptr) {
        c->end();
        memory::release(c, sizeof(Carried));
    }
    m = {};
}

}  // namespace fencepost::races
