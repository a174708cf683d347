// The rules of design.md, section 7, in its order, and those of seq-cst.md for seq_cst accesses and SC
// fences. Per thread the clocks C, A, R and SC; per location x the clocks W, WSC and MSC, kept as stamps
// (knowledge.hpp), and the writes that steps know (clock.hpp says why steps and clocks over threads are the
// same as location clocks). P, F, E and K are SC clocks (sc_clocks.hpp).
//
//   read part        A ⊔= W[x]; if acquire, C ⊔= W[x]; then both learn x's newest write;
//                    SC[t] ⊔= WSC[x], MSC[x] ⊔= old SC[t]
//   write part       new write n: message C (release) or R (relaxed), for an RMW joined with W[x];
//                    message, C, A learn n; SC[t] = WSC[x] = MSC[x] = SC[t] ⊔ MSC[x] with n; R learns nothing
//   acquire fence    C = A
//   release fence    R = C
//
// In S. Before the access, in = KW[x] ⊔ KFW[x], and ⊔ KR[x] ⊔ KFR[x] if it writes. P, F and E are joined from
// messages, kept for acquire fences, and sent in messages and by release fences as C is.
//
//   any access       E ⊔= in; a write: KW[x] ⊔= KR[x], KFW[x] ⊔= KFR[x] ⊔ F; else KFR[x] ⊔= F
//   seq_cst access   K = (P as it was before) ⊔ in, with the write that it reads or makes; KW[x] ⊔= K if it
//                    writes, else KR[x] ⊔= K; the message of the access, then P ⊔= K
//   SC fence         acquire fence, but P only afterwards; K = P ⊔ E ⊔ C; F ⊔= K; release fence; P ⊔= K
//                    (what of this need not be done: sc_clocks.hpp)
//
//   violation at x, with s the newest write of x known to SC[t], and c that known to C[t], to F[t] or, if the
//   access is seq_cst, to P[t]:
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
    Step missed;          // s: the newest write that the access comes after under SC, its own step
    Step known;           // c: the newest one that it must not overlook
    std::uint32_t links;  // that the thread had made before this access (sc_provenance.hpp)
    Order order;          // of the access, as it was checked
    bool has_value;
    std::uint64_t could;  // a value that it could read instead
    bool certain;  // it is one even if the access only repeats until it sees something else (await.hpp)
    static constexpr std::uint32_t most_stale = 8;
    std::uint32_t stale_count;
    std::uint64_t stale[most_stale];  // else: the values that a load could read instead, as far as they fit
};

// Before the access, the cell being locked. True if there is a violation.
bool check_load(Thread const&, Cell const&, Order, Violation&);
bool check_write(Thread const&, Cell const&, Order, Violation&);
// A read-modify-write that makes `changed(value)` false of a value leaves memory as it was: like a failed
// CAS.
template <class Changed>
bool check_rmw(Thread const&, Cell const&, Order, Violation&, Changed changed);
bool check_wait(Thread const&, Cell const&, Order, std::uint64_t const* values, std::size_t count,
                Violation&);
bool check_cas_success(Thread const&, Cell const&, Order, std::uint64_t expected, Violation&);
bool check_cas(Thread const&, Cell const&, Order success, Order failure, std::uint64_t expected, Violation&);

// c and s, as positions in the history. False if they are the same write.
struct Awareness {
    std::ptrdiff_t c, s;
};
bool differ(Thread const&, Cell const&, Order, Awareness&);

template <class Changed>
bool check_rmw(Thread const& t, Cell const& x, Order order, Violation& v, Changed changed) {
    if (!check_write(t, x, order, v)) return false;
    Awareness a;
    differ(t, x, order, a);
    bool any = false;
    v.certain = x.any_between(a.c, a.s, [&](std::uint64_t value, bool free) {
        any = any || free;
        return free && changed(value);
    });
    v.certain = v.certain || !any;  // the value may be among those that a gap could not hold
    return true;
}

// An access as reports describe it. All but the return address is in one word: it is passed on in registers.
class AccessSite {
  public:
    // `stack`: of a write.
    AccessSite(std::uintptr_t at, std::uint32_t stack, Access access, Order order)
        : pc(at),
          rest_(stack | std::uint64_t{static_cast<std::uint8_t>(access)} << 32 |
                std::uint64_t{static_cast<std::uint8_t>(order)} << 40) {}

    std::uint32_t stack() const { return static_cast<std::uint32_t>(rest_); }
    Access access() const { return static_cast<Access>(rest_ >> 32 & 0xff); }
    Order order() const { return static_cast<Order>(rest_ >> 40); }
    PackedAccess packed() const { return {pc, access(), order()}; }

    std::uintptr_t pc;  // return address

  private:
    std::uint64_t rest_;
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
// What the thread knows now, as C and SC.
[[gnu::always_inline]] inline Stamp stamp_of(Thread& t) {
    if (t.has_learned) take_step(t);
    return {t.stamp_word, t.time};
}
// All of it.
[[gnu::always_inline]] inline Stamp message_of(Thread& t) {
    if (t.has_learned || t.has_new_sc_clocks) {
        let_time_go_on(t);
        make_record(t);
    }
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

// Does the read leave anything in S? And what does S ask of a write?
[[gnu::always_inline]] inline bool reads_in_s(Thread const& t, Order order) {
    return order == Order::seq_cst || t.after_fence;
}
[[gnu::always_inline]] inline bool writes_in_s(Thread const& t, Cell const& x, Order order) {
    return order == Order::seq_cst || t.after_fence || x.has_sc_clocks;
}

// Would a read change nothing in S but the thread's own part, as one before it did not?
inline bool is_settled_read(Thread const& t, Cell const& x, Order order) {
    if (!x.has_sc_clocks || !x.others->reads.holds(t, order == Order::seq_cst)) return false;
    return order != Order::seq_cst || x.newest_writer().order == Order::seq_cst ||
           x.written.known_to(known_to_all);
}

// What S asks of an access where its message is known, and of a write the write itself.
void read_known_in_s(Thread&, Cell&, Order);
void write_over_known_in_s(Thread&, Cell&, std::uint64_t value, bool release, AccessSite);

// A read of what t knows already, the message included: it is no violation. Done if true.
[[gnu::always_inline]] inline bool reads_known(Thread& t, Cell& x, AccessSite site) {
    if (t.has_learned || !x.newest_known_to(t.current) || !knows_message(t, x) || !replaces_reader(t, x))
        return false;
    if (reads_in_s(t, site.order())) [[unlikely]]
        read_known_in_s(t, x, site.order());
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
//
// In S such a read leaves nothing either if the round before it did not.
template <class Read>
bool reads_same_again(Thread const& t, std::uintptr_t address, Cell const* cell, Order order, Read read) {
    auto const is_as_it_was = [&] {
        return !cell->lock.is_locked() &&
               __atomic_load_n(&cell->key, __ATOMIC_ACQUIRE) == key_of(address, CellKind::atomic);
    };
    if (cell == nullptr || t.has_learned || !is_as_it_was()) return false;
    if (reads_in_s(t, order) && !is_settled_read(t, *cell, order)) return false;
    Stamp const written = cell->written, now{t.stamp_word, t.time};
    bool const by_this_loop = t.await.reader == now && t.await.written == written && written.time() != 0 &&
                              (t.await.acquired || !acquires(order));
    if (!by_this_loop) {
        if (!(cell->read == now) || !written.known_to(t.current)) return false;
        if (!cell->message_is_write && cell->has_messages) return false;
    }
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    bool const in_step = read(cell->value, cell->size);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return in_step && is_as_it_was() && cell->written == written;
}

[[gnu::always_inline]] inline void add_write(Thread& t, Cell& x, std::uint64_t value, bool release,
                                             AccessSite site) {
    let_time_go_on(t);
    if (t.has_learned || (release && t.has_new_sc_clocks)) make_record(t);
    // A test-and-set of what is set may be one round of many.
    if (site.access() == Access::store || x.value != value) x.lock.count_change();
    x.add_write({t.stamp_word, t.time}, value, {site.stack(), t.id, site.access(), site.order()});
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
    bool const rmw = site.access() != Access::store;
    if (t.has_learned || !x.newest_known_to(t.current) || x.has_readers || !x.read.known_to(t.sc))
        return false;
    if (rmw && (!knows_message(t, x) || (!release && t.release.time() != 0))) return false;
    if (writes_in_s(t, x, site.order())) [[unlikely]] {
        write_over_known_in_s(t, x, value, release, site);
        return true;
    }
    if (rmw && !release) x.keep_message();
    add_write(t, x, value, release, site);
    if (!rmw || release) leave_message(t, x, release);
    return true;
}

// The two for a location that has just been brought in step, so that there is not much to do.
bool reads_known_anew(Thread&, Cell&, AccessSite);
bool writes_over_known_anew(Thread&, Cell&, std::uint64_t value, bool release, AccessSite);

// Brings the location in step with memory, and does such accesses.
[[gnu::always_inline]] inline bool is_done_read(Thread& t, LockedCell const& x, std::uint64_t value,
                                                std::size_t size, AccessSite site) {
    if (is_in_step(x, value, size)) [[likely]]
        return reads_known(t, *x, site);
    bring_in_step(*x, x.created(), value, size);
    return reads_known_anew(t, *x, site);
}
[[gnu::always_inline]] inline bool is_done_write(Thread& t, LockedCell const& x, std::uint64_t old,
                                                 std::uint64_t value, std::size_t size, bool release,
                                                 AccessSite site) {
    if (is_in_step(x, old, size)) [[likely]]
        return writes_over_known(t, *x, value, release, site);
    bring_in_step(*x, x.created(), old, size);
    return writes_over_known_anew(t, *x, value, release, site);
}

void read_part(Thread&, Cell&, bool acquire, AccessSite);
void write_part(Thread&, Cell&, std::uint64_t value, bool release, AccessSite);
void rmw_parts(Thread&, Cell&, std::uint64_t value, bool acquire, bool release, AccessSite);

void acquire_fence(Thread&);
void release_fence(Thread&);
void sc_fence(Thread&);
// membarrier(2), by the thread that calls it: calls each(other) for every other thread that lives, which
// makes a full fence between what it has done and what it will do. It then knows what the caller knew, and
// the caller what all of them knew. Not in a hook; the world stands still.
template <class Each>
void fence_everywhere(Thread& caller, Each each);

template <class Each>
void fence_everywhere(Thread& caller, Each each) {
    sc_fence(caller);
    for (Thread* t = all_threads; t != nullptr; t = t->next) {
        if (t == &caller || (t->state != Thread::State::made && t->state != Thread::State::running)) continue;
        bool const has_done_nothing = t->slot == no_slot;
        if (!has_done_nothing) sc_fence(*t);
        learn_from(*t, caller);
        if (!has_done_nothing) sc_fence(*t);
        each(*t);
    }
    // Also of those that have ended, but were not joined.
    for (Thread* t = all_threads; t != nullptr; t = t->next)
        if (t != &caller && t->slot != no_slot) learn_from(caller, *t);
    sc_fence(caller);
}

// Synchronisation objects, and the begin and end of what they protect.
void acquire_from(Thread&, Cell const&);
void release_to(Thread&, Cell&);

}  // namespace fencepost
