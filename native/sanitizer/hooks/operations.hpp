// Atomic operations: the real one on memory and the rules around it, under the lock of the location. Each
// begins with a scheduling point. `frame` is the frame address of the function that the program called.
//
// In a signal handler that interrupted a hook, and in threads beyond the limit, only the real one is done.
// `ordinary`: the run is, so that there is less to ask for (core/ordinary.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/core/atomic_methods.hpp"
#include "sanitizer/core/await.hpp"
#include "sanitizer/core/locations.hpp"
#include "sanitizer/core/robustness.hpp"
#include "sanitizer/core/stacks.hpp"
#include "sanitizer/hooks/race_watch.hpp"
#include "sanitizer/hooks/raw_memory.hpp"
#include "sanitizer/hooks/site_use.hpp"
#include "sanitizer/hooks/weak_operations.hpp"
#include "sanitizer/races/feed.hpp"
#include "sanitizer/report/findings.hpp"
#include "sanitizer/report/old_reads.hpp"
#include "sanitizer/schedule/scheduler.hpp"

namespace fencepost {

template <class T>
std::uintptr_t address_of(T const volatile* a) {
    return reinterpret_cast<std::uintptr_t>(a);
}

template <class T>
AccessNote note_of(Access access, Order order, T const volatile* a, T value, void const* frame) {
    return {access, order, sizeof(T), sizeof(T) <= 8, to_bits(value), address_of(a), frame};
}

// A write under a schedule: the thread does not merely spin, and others may wait for the value.
template <class T>
void written(T const volatile* a, bool changed) {
    if (!changed || !scheduler::active()) return;
    scheduler::progress();
    if (scheduler::memory_awaited()) scheduler::wake(const_cast<T const*>(a));
}

inline bool watched(Hook const& hook) {
    return hook && !hook.thread().unwatched;
}

// What others can notice of an access. Without a schedule nobody asks, and it need not be made.
template <class T>
scheduler::Operation operation(scheduler::Act act, T const volatile* a, Order order, void const* frame,
                               std::uint64_t expected = 0) {
    scheduler::Operation next;
    next.act = act;
    next.object = const_cast<T const*>(a);
    next.size = sizeof(T);
    next.sc = order == Order::seq_cst;
    next.expected = expected;
    next.pc = pc_of(frame);
    return next;
}

// Others may run here, but not while a hook that a signal has interrupted holds a lock.
inline void access_point(scheduler::Operation const& next) {
    if (scheduler::active() && current_thread().in_hook == 0) scheduler::point(next);
}

// Before an access that a loop may repeat. If the thread only does again what it did last, others should.
[[gnu::always_inline]] inline void point_before(scheduler::Operation next, void const* frame) {
    if (!scheduler::active() || current_thread().in_hook != 0) return;
    Thread const& t = current_thread();
    auto const address = reinterpret_cast<std::uintptr_t>(next.object);
    bool const again = goes_round(t, next.pc, address);
    if (scheduler::exploring()) {
        KEEP_REGISTERS();
        void const* const end =
            t.stack_base != nullptr ? t.stack_base : reinterpret_cast<void*>(t.stack_high);
        std::uint64_t const state = scheduler::state_of_thread(next, frame, end);
        scheduler::look_for_rounds(next, state);
    }
    scheduler::point(next, again);
}

// Fetches what an access will need while it prepares; `cell` may be null.
template <class T>
[[gnu::always_inline]] inline void expect_read(T const volatile* a, Cell const* cell) {
    __builtin_prefetch(const_cast<T const*>(a));
    if (cell != nullptr) prefetch_to_write(cell);
}
template <class T>
[[gnu::always_inline]] inline void expect_write(T const volatile* a, Cell const* cell) {
    prefetch_to_write(const_cast<T const*>(a));
    if (cell == nullptr) return;
    prefetch_to_write(cell);
    prefetch_to_write(&cell->next);
}

// A thread that changes a location which others change, or waits for them in a loop, takes the cache lines
// from them. It may be better to let them go on alone for a moment, before this thread holds what they wait
// for.
inline void back_off_if_contended(Thread& t, Cell const* cell, std::uintptr_t pc, bool waits) {
    if (cell == nullptr || cell->written.time() == 0 || cell->written.slot() == t.slot) return;
    if ((waits && t.await.rounds == 0) || scheduler::active()) return;
    auto const* const operation = reinterpret_cast<void const*>(pc);
    if (!cell->lock.advises_sleep(operation)) return;
    Hook::leave(t);  // nobody is to wait for it meanwhile
    cell->lock.sleep(operation);
    Hook::enter(t);
}

// A round of a waiting loop that reads what it read before. It does not hold up threads that change the
// location.
template <class T>
bool waits_on(Thread& t, T const volatile* a, Cell const* cell, Order order, std::uintptr_t pc, T& value) {
    return reads_same_again(t, address_of(a), cell, order, [&](std::uint64_t newest, std::size_t size) {
        value = raw_load(a, pc);
        return to_bits(value) == newest && size == sizeof(T);
    });
}

// In a weak execution; false if it reads the newest write, and all else is as ever. `read` as in
// weak_operations.hpp.
template <class T, class Read>
bool reads_old_write(Thread& t, T const volatile* a, AccessNote note, WatchedAtomic& watched_atomic, T& value,
                     Read read) {
    T newest;
    weak::MissedWrites missed;
    {
        LockedCell x(t, address_of(a), CellKind::atomic);
        if (!x) return false;
        newest = peek(a);
        bool const old = read(x, newest, missed);
        keep_in_step(x, to_bits(newest), sizeof(T));
        if (!old) return false;
        watched_atomic.read();
    }
    watched_atomic.report();
    note.value = to_bits(value);
    report_old_read(t, note, to_bits(newest), missed);
    return true;
}

template <class T>
bool load_reads_old(Thread& t, T const volatile* a, Order order, void const* frame,
                    WatchedAtomic& watched_atomic, T& value) {
    return reads_old_write(t, a, note_of(Access::load, order, a, T{}, frame), watched_atomic, value,
                           [&](LockedCell const& x, T newest, weak::MissedWrites& missed) {
                               return reads_old(t, x, a, order, newest, value, missed);
                           });
}

template <class T>
bool cas_fails_by_old(Thread& t, T const volatile* a, T expected, Order failure, void const* frame,
                      WatchedAtomic& watched_atomic, T& value) {
    return reads_old_write(t, a, note_of(Access::cas, failure, a, T{}, frame), watched_atomic, value,
                           [&](LockedCell const& x, T newest, weak::MissedWrites& missed) {
                               return fails_by_old(t, x, a, expected, failure, newest, value, missed);
                           });
}

template <class T>
[[gnu::always_inline]] inline T do_load(T const volatile* a, Order order, void const* frame,
                                        bool ordinary = false) {
    SiteUse const at_site(SiteKind::load, order, frame, ordinary);
    std::uintptr_t const pc = pc_of(frame, ordinary);
    if (!ordinary && scheduler::active()) [[unlikely]]
        point_before(operation(scheduler::Act::read, a, order, frame), frame);
    Hook hook;
    if (!watched(hook)) return raw_load(a);
    Thread& t = hook.thread();
    Cell* const cell = LockedCell::glimpse(t, address_of(a));
    bool const again = goes_round(t, pc, address_of(a));
    if (again)
        back_off_if_contended(t, cell, pc, true);
    else
        expect_read(a, cell);
    ++t.atomics;
    WatchedAtomic watched_atomic(t, a, frame);
    Violation v;
    bool violated = false;
    T value;
    if (!ordinary && is_weak() && load_reads_old(t, a, order, frame, watched_atomic, value)) [[unlikely]] {
        note_round(t, pc, address_of(a), to_bits(value));
        return value;
    }
    if (!again || !waits_on(t, a, cell, order, pc, value)) {
        LockedCell x(t, address_of(a), CellKind::atomic, cell);
        if (!x) return raw_load(a);
        races::acquire_message(t, x->race_message, a, acquires(order));
        watched_atomic.read();
        value = raw_load(a, pc);
        AccessSite const site{pc, 0, Access::load, order};
        if (!is_done_read(t, x, to_bits(value), sizeof(T), site)) {
            violated = check_load(t, *x, order, v);
            read_part(t, *x, acquires(order), site);
        }
        if (again) note_read(t, *x, acquires(order));
    }
    note_round(t, pc, address_of(a), to_bits(value));
    watched_atomic.report();
    if (violated) report(t, note_of(Access::load, order, a, value, frame), v);
    return value;
}

template <class T>
[[gnu::always_inline]] inline void do_store(T volatile* a, T value, Order order, void const* frame,
                                            bool ordinary = false) {
    SiteUse const at_site(SiteKind::store, order, frame, ordinary);
    if (!ordinary && scheduler::active()) [[unlikely]]
        access_point(operation(scheduler::Act::write, a, order, frame));
    Hook hook;
    if (!watched(hook)) return raw_store(a, value);
    Thread& t = hook.thread();
    Cell* const cell = LockedCell::glimpse(t, address_of(a));
    expect_write(a, cell);
    std::uintptr_t const pc = pc_of(frame, ordinary);
    ++t.atomics;
    interrupt_await(t);
    std::uint32_t const stack = keep_stack(t, frame);
    WatchedAtomic watched_atomic(t, a, frame);
    Violation v;
    bool violated = false;
    T old;
    {
        LockedCell x(t, address_of(a), CellKind::atomic, cell);
        if (!x) return raw_store(a, value);
        old = peek(a);
        watched_atomic.write();
        bool const in_place = races::publishes_in_place(t, x->race_message, releases(order));
        raw_store_locked(a, value, pc, in_place);
        races::publish(t, x->race_message, releases(order), in_place);
        AccessSite const site{pc, stack, Access::store, order};
        if (!is_done_write(t, x, to_bits(old), to_bits(value), sizeof(T), releases(order), site)) {
            violated = check_write(t, *x, order, v);
            write_part(t, *x, to_bits(value), releases(order), site);
        }
        if (!ordinary && is_weak()) follow_weakly(t, x, a, old, value, site);
    }
    if (!ordinary) written(a, old != value);
    watched_atomic.report();
    if (violated) report(t, note_of(Access::store, order, a, value, frame), v);
}

// Read-modify-write operations: what they make of a value, and the instruction that does it on memory.
#define UPDATE(Name, expression, operation)                                                           \
    struct Name {                                                                                     \
        template <class T>                                                                            \
        static T of(T old, T operand) {                                                               \
            (void)old;                                                                                \
            return static_cast<T>(expression);                                                        \
        }                                                                                             \
        template <class T>                                                                            \
        static T in_memory(T volatile* a, T operand, std::uintptr_t pc = 0, bool release = false) {   \
            return raw_##operation(a, operand, [&](T old) { return of(old, operand); }, pc, release); \
        }                                                                                             \
    };
UPDATE(Exchange, operand, exchange)
UPDATE(Add, old + operand, fetch_add)
UPDATE(Subtract, old - operand, fetch_sub)
UPDATE(And, old& operand, fetch_and)
UPDATE(Or, old | operand, fetch_or)
UPDATE(Xor, old ^ operand, fetch_xor)
UPDATE(Nand, ~(old& operand), fetch_nand)
#undef UPDATE

template <class Update>
constexpr SiteKind site_kind(Update) {
    return SiteKind::fetch;
}
constexpr SiteKind site_kind(Exchange) {
    return SiteKind::exchange;
}

// Update is one of these, or says which of them it is (libatomic.cpp).
template <class Update, class T>
[[gnu::always_inline]] inline T do_rmw(T volatile* a, T operand, Order order, void const* frame,
                                       Update update = {}, bool ordinary = false) {
    SiteUse const at_site(site_kind(update), order, frame, ordinary);
    std::uintptr_t const pc = pc_of(frame, ordinary);
    if (!ordinary && scheduler::active()) [[unlikely]]
        point_before(operation(scheduler::Act::update, a, order, frame), frame);
    Hook hook;
    if (!watched(hook)) return update.in_memory(a, operand);
    Thread& t = hook.thread();
    Cell* const cell = LockedCell::glimpse(t, address_of(a));
    bool const again = goes_round(t, pc, address_of(a));
    if (!again) expect_write(a, cell);
    back_off_if_contended(t, cell, pc, again);
    ++t.atomics;
    std::uint32_t const stack = keep_stack(t, frame);
    WatchedAtomic watched_atomic(t, a, frame);
    Violation v;
    bool violated = false;
    T old, next;
    {
        LockedCell x(t, address_of(a), CellKind::atomic, cell);
        if (!x) return update.in_memory(a, operand);
        races::acquire_message(t, x->race_message, a, acquires(order));
        watched_atomic.write();
        bool const in_place = races::extends_in_place(t, x->race_message, releases(order));
        old = update.in_memory(a, operand, pc, in_place);
        races::extend(t, x->race_message, releases(order), in_place);
        next = update.of(old, operand);
        AccessSite const site{pc, stack, Access::rmw, order};
        if (!is_done_write(t, x, to_bits(old), to_bits(next), sizeof(T), releases(order), site)) {
            violated = check_rmw(t, *x, order, v, [&](std::uint64_t bits) {
                return sizeof(T) > 8 || update.of(static_cast<T>(bits), operand) != static_cast<T>(bits);
            });
            rmw_parts(t, *x, to_bits(next), acquires(order), releases(order), site);
        }
        if (!ordinary && is_weak()) follow_weakly(t, x, a, old, next, site);
    }
    note_update(t, pc, address_of(a), to_bits(old), again, old != next);
    if (!ordinary) written(a, old != next);
    watched_atomic.report();
    if (violated) report(t, note_of(Access::rmw, order, a, old, frame), v);
    return old;
}

// Weak ones too count as strong: clang does not tell them apart, and one that fails although it could succeed
// is what every program that uses it expects. Gives the old value.
template <class T>
[[gnu::always_inline]] inline T do_cas(T volatile* a, T expected, T desired, Order success, Order failure,
                                       void const* frame, bool ordinary = false) {
    SiteUse const at_site(SiteKind::compare_exchange, success, failure, frame, ordinary);
    std::uintptr_t const pc = pc_of(frame, ordinary);
    if (!ordinary && scheduler::active()) [[unlikely]]
        point_before(operation(scheduler::Act::compare, a, failure == Order::seq_cst ? failure : success,
                               frame, to_bits(expected)),
                     frame);
    Hook hook;
    if (!watched(hook)) return raw_compare_exchange(a, expected, desired);
    Thread& t = hook.thread();
    Cell* const cell = LockedCell::glimpse(t, address_of(a));
    bool const again = goes_round(t, pc, address_of(a));
    if (!again) expect_write(a, cell);
    back_off_if_contended(t, cell, pc, again);
    ++t.atomics;
    note_cas(t, address_of(a), to_bits(expected));
    std::uint32_t const stack = keep_stack(t, frame);
    WatchedAtomic watched_atomic(t, a, frame);
    Violation v;
    bool violated = false, succeeded = false;
    T old;
    if (!ordinary && is_weak() && cas_fails_by_old(t, a, expected, failure, frame, watched_atomic, old))
        [[unlikely]] {
        note_round(t, pc, address_of(a), to_bits(old));
        return old;
    }
    if (!again || (!ordinary && is_weak()) || !waits_on(t, a, cell, failure, pc, old) || old == expected) {
        LockedCell x(t, address_of(a), CellKind::atomic, cell);
        if (!x) return raw_compare_exchange(a, expected, desired);
        bool const succeeds = peek(a) == expected;
        races::acquire_message(t, x->race_message, a, acquires(succeeds ? success : failure));
        succeeds ? watched_atomic.write() : watched_atomic.read();
        bool const in_place = succeeds && races::extends_in_place(t, x->race_message, releases(success));
        old = raw_compare_exchange(a, expected, desired, pc, in_place);
        succeeded = old == expected;
        if (succeeded) races::extend(t, x->race_message, releases(success), in_place);
        AccessSite const site{pc, stack, succeeded ? Access::cas : Access::load,
                              succeeded ? success : failure};
        bool const done = succeeded ? is_done_write(t, x, to_bits(old), to_bits(desired), sizeof(T),
                                                    releases(success), site)
                                    : is_done_read(t, x, to_bits(old), sizeof(T), site);
        if (!done) {
            violated = check_cas(t, *x, success, failure, to_bits(expected), v);
            if (succeeded)
                rmw_parts(t, *x, to_bits(desired), acquires(success), releases(success), site);
            else
                read_part(t, *x, acquires(failure), site);
        }
        if (!ordinary && is_weak()) follow_weakly(t, x, a, old, desired, site);
        if (again && !succeeded) note_read(t, *x, acquires(failure));
    }
    note_update(t, pc, address_of(a), to_bits(old), again, succeeded);
    if (!ordinary) written(a, succeeded && old != desired);
    watched_atomic.report();
    if (violated) report(t, note_of(Access::cas, success, a, old, frame), v);
    return old;
}

// What a fence does, but for real.
inline void fence_by_the_rules(Thread& t, Order order) {
    note_fence(t, order);
    if (acquires(order)) races::acquire_fence(t);
    if (releases(order)) races::release_fence(t);
    if (is_weak()) weak::fence(t, order);
    if (order == Order::seq_cst) return sc_fence(t);
    if (acquires(order)) acquire_fence(t);
    if (releases(order)) release_fence(t);
}

inline void do_fence(Order order, void const* frame) {
    Order counting = order;
    SiteUse const at_site(SiteKind::fence, counting, frame);
    if (scheduler::active()) [[unlikely]] {
        scheduler::Operation next;  // only SC fences are ordered among each other
        if (order == Order::seq_cst) next.act = scheduler::Act::update;
        next.sc = order == Order::seq_cst;
        next.pc = pc_of(frame);
        access_point(next);
    }
    Hook hook;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!watched(hook)) return;
    Thread& t = hook.thread();
    interrupt_await(t);
    ++t.atomics;
    if (fence_stands(frame)) fence_by_the_rules(t, counting);
}

}  // namespace fencepost
