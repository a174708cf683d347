// The rules of design.md, section 7, in its order. Per thread the clocks C, A, R and SC; per location x the
// clocks W, WSC and MSC, kept as stamps (knowledge.hpp), and the writes that steps know (clock.hpp says why
// steps and clocks over threads are the same as location clocks).
//
//   read part        A ⊔= W[x]; if acquire, C ⊔= W[x]; then both learn x's newest write;
//                    SC[t] ⊔= WSC[x], MSC[x] ⊔= old SC[t]
//   write part       new write n: message C (release) or R (relaxed), for an RMW joined with W[x];
//                    message, C, A learn n; SC[t] = WSC[x] = MSC[x] = SC[t] ⊔ MSC[x] with n; R learns nothing
//   acquire fence    C = A
//   release fence    R = C
//   SC fence         acquire fence; acquire-release RMW of a location of its own; release fence
//   seq_cst access   an SC fence, then the access as acquire, release or both
//
//   violation at x, with c and s the newest writes of x known to C[t] and to SC[t]:
//   load             c before s
//   store, RMW       a write that is not an RMW after c and not after s
//   wait for v       a write of v from c on and before s
//   strong CAS       success: a write of the expected value from c on and before s whose successor is not an
//                    RMW; failure: a write of another value from c on and before s
//
// Mutexes and their like order both hb and hbsc alike: what a release knew as C and SC, an acquire learns.
// Nothing is checked at them: a mutex is locked by an RMW and unlocked by a release write, so there is never
// a write before the newest one that a lock could read and that is not already followed by an RMW.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/core/locations.hpp"
#include "sanitizer/core/orders.hpp"
#include "sanitizer/core/threads.hpp"

namespace fencepost {

struct Violation {
    Step missed;               // s: the newest write that the access comes after under SC
    Step known;                // c: the newest one that it must not overlook
    std::uint32_t learned_by;  // number of the link by which the thread came after s, before this access
    bool has_value;
    std::uint64_t could;  // a value that it could read instead
    bool certain;  // it is one even if the access only repeats until it sees something else (await.hpp)
    static constexpr std::uint32_t most_stale = 8;
    std::uint32_t stale_count;
    std::uint64_t stale[most_stale];  // else: the values that a load could read instead, as far as they fit
};

// Before the access, the cell being locked. True if there is a violation.
bool check_load(Thread const&, Cell const&, Violation&);
bool check_write(Thread const&, Cell const&, Violation&);
// A read-modify-write that makes `changed(value)` false of a value leaves memory as it was: like a failed
// CAS.
template <class Changed>
bool check_rmw(Thread const&, Cell const&, Violation&, Changed changed);
bool check_wait(Thread const&, Cell const&, std::uint64_t const* values, std::size_t count, Violation&);
bool check_cas_success(Thread const&, Cell const&, std::uint64_t expected, Violation&);
bool check_cas(Thread const&, Cell const&, std::uint64_t expected, Violation&);

// The newest writes known to C and to SC, as positions in the history. False if they are the same.
struct Awareness {
    std::ptrdiff_t c, s;
};
bool differ(Thread const&, Cell const&, Awareness&);

template <class Changed>
bool check_rmw(Thread const& t, Cell const& x, Violation& v, Changed changed) {
    if (!check_write(t, x, v)) return false;
    Awareness a;
    differ(t, x, a);
    bool any = false;
    v.certain = x.any_between(a.c, a.s, [&](std::uint64_t value, bool free) {
        any = any || free;
        return free && changed(value);
    });
    v.certain = v.certain || !any;  // the value may be among those that a gap could not hold
    return true;
}

// An access as reports describe it.
struct AccessSite {
    std::uintptr_t pc;    // return address
    std::uint32_t stack;  // of a write
    Access access;
    Order order;

    PackedAccess packed() const { return {pc, access, order}; }
};

[[gnu::always_inline]] inline void let_time_go_on(Thread& t) {
    ++t.time;
    t.current[t.slot] = t.acquire[t.slot] = t.sc[t.slot] = t.time;
    t.changed = true;
    ++t.unreported_steps;
}

// From now on it knows a write, or is about to say what it has learned; and so does whoever knows this time.
[[gnu::always_inline]] inline void take_step(Thread& t) {
    let_time_go_on(t);
    if (t.has_learned) make_record(t);
}

// What the thread knows now.
[[gnu::always_inline]] inline Stamp stamp_of(Thread& t) {
    if (t.has_learned) take_step(t);
    return {t.stamp_word, t.time};
}

// Makes the thread the one that has read x, if it knows as SC what the one before it knew.
inline bool replaces_reader(Thread const& t, Cell const& x) {
    return x.read.known_to(t.sc);
}

// Does C know W[x]? False also if that is not quickly seen.
[[gnu::always_inline]] inline bool knows_message(Thread const& t, Cell const& x) {
    if (x.message_is_write) return x.written.known_to(t.current);
    return !x.has_messages || (x.message.known_to(t.current) && x.more_messages().empty());
}

// A read of what t knows already, the message included: it is no violation. Done if true.
[[gnu::always_inline]] inline bool reads_known(Thread& t, Cell& x, AccessSite site) {
    if (t.has_learned || !x.newest_known_to(t.current) || !knows_message(t, x) || !replaces_reader(t, x))
        return false;
    x.read = stamp_of(t);
    x.read_access = site.packed();
    return true;
}

// A round of a loop that waits has read x, and noted it.
inline void note_read(Thread& t, Cell const& x, bool acquire) {
    t.await.acquired = acquire;
    t.await.written = x.written;
    t.await.reader = {t.stamp_word, t.time};
}

// A read of what t has read before, when it knew as much as now, leaves nothing to note: what was noted then
// goes only when somebody writes, or for that of a reader who knows it. So if t was the last to read, or its
// loop has read this write. The cell is not locked; if its newest write is the same before and after
// `read()`, that is what was read.
template <class Read>
bool reads_same_again(Thread const& t, std::uintptr_t address, Cell const* cell, bool acquire, Read read) {
    auto const is_as_it_was = [&] {
        return !cell->lock.is_locked() &&
               __atomic_load_n(&cell->key, __ATOMIC_ACQUIRE) == key_of(address, CellKind::atomic);
    };
    if (cell == nullptr || t.has_learned || !is_as_it_was()) return false;
    Stamp const written = cell->written, now{t.stamp_word, t.time};
    bool const by_this_loop = t.await.reader == now && t.await.written == written && written.time() != 0 &&
                              (t.await.acquired || !acquire);
    if (!by_this_loop) {
        if (!(cell->read == now) || !written.known_to(t.current)) return false;
        if (!cell->message_is_write && cell->has_messages) return false;
    }
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    bool const in_step = read(cell->value, cell->size);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return in_step && is_as_it_was() && cell->written == written;
}

[[gnu::always_inline]] inline void add_write(Thread& t, Cell& x, std::uint64_t value, AccessSite site) {
    take_step(t);
    // A test-and-set of what is set may be one round of many.
    if (site.access == Access::store || x.value != value) x.lock.count_change();
    x.add_write(stamp_of(t), value, {site.stack, t.id, site.access, site.order});
    x.read = {};
}

// What a store, or an RMW whose thread knows W[x], leaves there as the message.
inline void leave_message(Thread const& t, Cell& x, bool release) {
    x.forget_messages();
    x.message_is_write = release;
    x.has_messages = !release && t.release.time() != 0;
    if (x.has_messages) x.message = t.release;
}

// A write where t knows all earlier accesses: it is no violation. Done if true.
[[gnu::always_inline]] inline bool writes_over_known(Thread& t, Cell& x, std::uint64_t value, bool release,
                                                     AccessSite site) {
    bool const rmw = site.access != Access::store;
    if (t.has_learned || !x.newest_known_to(t.current) || x.has_readers || !x.read.known_to(t.sc))
        return false;
    if (rmw && (!knows_message(t, x) || (!release && t.release.time() != 0))) return false;
    if (rmw && !release) x.keep_message();
    add_write(t, x, value, site);
    if (!rmw || release) leave_message(t, x, release);
    return true;
}

void read_part(Thread&, Cell&, bool acquire, AccessSite);
void write_part(Thread&, Cell&, std::uint64_t value, bool release, AccessSite);
void rmw_parts(Thread&, Cell&, std::uint64_t value, bool acquire, bool release, AccessSite);

void acquire_fence(Thread&);
void release_fence(Thread&);
void sc_fence(Thread&, std::uintptr_t pc);

// Synchronisation objects, and the begin and end of what they protect.
void acquire_from(Thread&, Cell const&);
void release_to(Thread&, Cell&);

// The SC fences' own location: its message and its hbsc knowledge. All threads come here, so with a few
// threads it is two lines.
struct alignas(128) FenceLocation {
    Lock lock;
    std::uint32_t width;    // of the clocks
    std::uint64_t version;  // counts changes
    Time* message;
    Time* sc;
    AccessAt last;  // that changed it

    void widen();

    static constexpr std::uint32_t own_width = 8;
    alignas(64) Time own_clocks[2 * own_width];
};
extern FenceLocation fence_location;
void start_fences();

}  // namespace fencepost
