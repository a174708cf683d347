// What <fencepost.h> offers: waits and compare-and-exchange that say what they wait for (rsan-2025, section
// 4.3). The check is made when the wait is reached, whether or not it ends; failed rounds leave no trace.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/hooks/operations.hpp"

namespace fencepost {

inline bool one_of(std::uint64_t value, std::uint64_t const* values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        if (values[i] == value) return true;
    return false;
}

// What a thread waits for, as the scheduler asks for it.
template <class T>
struct Awaited {
    T const volatile* memory;
    std::uint64_t const* values;
    std::size_t count;

    static bool there(void* awaited) {
        auto const& self = *static_cast<Awaited*>(awaited);
        return one_of(to_bits(__atomic_load_n(self.memory, __ATOMIC_RELAXED)), self.values, self.count);
    }
    scheduler::Wait wait() {
        auto const* const address = const_cast<T const*>(memory);
        return {.ready = there, .argument = this, .object = address, .on_what = "wait", .memory = true};
    }
    void block() {
        if (scheduler::active())
            scheduler::block(wait());
        else
            while (!there(this)) let_others_run();
    }
};

// A thread arrives at a wait even if it will never end; all that others can notice is its end.
template <class T>
void point_at_wait(scheduler::Operation next, T const volatile* a, std::uint64_t const* values,
                   std::size_t count) {
    Awaited<T> awaited{a, values, count};
    scheduler::Wait const wait = awaited.wait();
    next.until = count == 1 ? scheduler::Until::equal : scheduler::Until::unknown;
    next.awaited = values[0];
    next.wait = &wait;
    next.looks_before_waiting = true;
    access_point(next);
}

// Arrives at a wait: checks, reports.
template <class T, class Check>
void arrive(T const volatile* a, Access access, Order order, T value, void const* frame, Check check) {
    Hook hook;
    if (!watched(hook)) return;
    Thread& t = hook.thread();
    interrupt_await(t);
    ++t.atomics;
    Violation v;
    bool violated = false;
    {
        LockedCell x(t, address_of(a), CellKind::atomic);
        if (!x) return;
        keep_in_step(x, to_bits(peek(a)), sizeof(T));
        if (is_weak()) weak::locate(x, address_of(a), peek(a), sizeof(T));
        violated = check(t, *x, v);
    }
    if (violated) report(t, note_of(access, order, a, value, frame), v);
}

template <class T>
T do_wait(T const volatile* a, Order order, std::uint64_t const* values, std::size_t count,
          void const* frame) {
    SiteUse const at_site(SiteKind::load, order, frame);
    point_at_wait(operation(scheduler::Act::read, a, order, frame), a, values, count);
    arrive(a, Access::wait, order, static_cast<T>(values[0]), frame,
           [&](Thread& t, Cell& x, Violation& v) { return check_wait(t, x, order, values, count, v); });
    for (Awaited<T> awaited{a, values, count};; awaited.block()) {
        Hook hook;
        if (!watched(hook)) {
            T const value = raw_load(a);
            if (one_of(to_bits(value), values, count)) return value;
            continue;
        }
        WatchedAtomic watched_atomic(hook.thread(), a, frame);
        T value;
        {
            LockedCell x(hook.thread(), address_of(a), CellKind::atomic);
            if (!one_of(to_bits(peek(a)), values, count)) continue;
            if (x) races::acquire_message(hook.thread(), x->race_message, a, acquires(order));
            watched_atomic.read();
            value = raw_load(a, pc_of(frame));
            if (x) {
                keep_in_step(x, to_bits(value), sizeof(T));
                AccessSite const site{pc_of(frame), 0, Access::wait, order};
                read_part(hook.thread(), *x, acquires(order), site);
                if (is_weak()) follow_weakly(hook.thread(), x, a, value, value, site);
            }
        }
        watched_atomic.report();
        return value;
    }
}

template <class T>
void do_bcas(T volatile* a, T expected, T desired, Order order, void const* frame) {
    SiteUse const at_site(SiteKind::compare_exchange, order, frame);
    std::uint64_t const wanted = to_bits(expected);
    point_at_wait(operation(scheduler::Act::update, a, order, frame), a, &wanted, 1);
    arrive(a, Access::cas, order, expected, frame,
           [&](Thread& t, Cell& x, Violation& v) { return check_cas_success(t, x, order, wanted, v); });
    for (Awaited<T> awaited{a, &wanted, 1};; awaited.block()) {
        Hook hook;
        if (!watched(hook)) {
            if (raw_compare_exchange(a, expected, desired) == expected) return;
            continue;
        }
        Thread& t = hook.thread();
        std::uint32_t const stack = keep_stack(t, frame);
        WatchedAtomic watched_atomic(t, a, frame);
        {
            LockedCell x(t, address_of(a), CellKind::atomic);
            if (peek(a) != expected) continue;
            if (x) races::acquire_message(t, x->race_message, a, acquires(order));
            watched_atomic.write();
            bool const in_place = x && races::extends_in_place(t, x->race_message, releases(order));
            if (raw_compare_exchange(a, expected, desired, pc_of(frame), in_place) != expected) continue;
            if (x) {
                races::extend(t, x->race_message, releases(order), in_place);
                keep_in_step(x, wanted, sizeof(T));
                AccessSite const site{pc_of(frame), stack, Access::cas, order};
                rmw_parts(t, *x, to_bits(desired), acquires(order), releases(order), site);
                if (is_weak()) follow_weakly(t, x, a, expected, desired, site);
            }
        }
        watched_atomic.report();
        written(a, expected != desired);
        return;
    }
}

}  // namespace fencepost
