#include "sanitizer/hooks/volatile_accesses.hpp"

#include "sanitizer/hooks/operations.hpp"

namespace fencepost {
namespace {

bool counts(void const volatile* a, std::uint32_t size) {
    return options.volatile_relaxed && scheduler::active() && size <= 8 && address_of(a) % size == 0;
}

// Calls action(pointer to a number of that size).
template <class Action>
void by_size(std::uintptr_t address, std::uint32_t size, Action action) {
    auto const as = [&]<class T>(T) { action(reinterpret_cast<T volatile*>(address)); };
    size == 1   ? as(std::uint8_t{})
    : size == 2 ? as(std::uint16_t{})
    : size == 4 ? as(std::uint32_t{})
                : as(std::uint64_t{});
}

// As `do_load`, but for what the program reads itself: never an old write.
template <class T>
void read_volatile(T const volatile* a, void const* frame) {
    std::uintptr_t const pc = pc_of(frame);
    point_before(operation(scheduler::Act::read, a, Order::relaxed, frame), frame);
    Hook hook;
    if (!watched(hook)) return;
    Thread& t = hook.thread();
    bool const again = goes_round(t, pc, address_of(a));
    ++t.atomics;
    WatchedAtomic watched_atomic(t, a, frame);
    Violation v;
    bool violated = false;
    T value;
    {
        LockedCell x(t, address_of(a), CellKind::atomic);
        if (!x) return;
        races::acquire_message(t, x->race_message, a, false);
        watched_atomic.read();
        value = peek(a);
        AccessSite const site{pc, 0, Access::load, Order::relaxed};
        if (!is_done_read(t, x, to_bits(value), sizeof(T), site)) {
            violated = check_load(t, *x, Order::relaxed, v);
            read_part(t, *x, false, site);
        }
        if (is_weak()) follow_weakly(t, x, a, value, value, site);
        if (again) note_read(t, *x, false);
    }
    note_round(t, pc, address_of(a), to_bits(value));
    watched_atomic.report();
    if (violated) report(t, note_of(Access::load, Order::relaxed, a, value, frame), v);
}

// As the first half of `do_store`.
template <class T>
void begin_write(T volatile* a, void const* frame) {
    access_point(operation(scheduler::Act::write, a, Order::relaxed, frame));
    Hook hook;
    if (!watched(hook)) return;
    Thread& t = hook.thread();
    ++t.atomics;
    interrupt_await(t);
    WatchedAtomic watched_atomic(t, a, frame);
    Violation v;
    bool violated = false;
    T const old = peek(a);
    {
        LockedCell x(t, address_of(a), CellKind::atomic);
        if (!x) return;
        watched_atomic.write();
        keep_in_step(x, to_bits(old), sizeof(T));
        violated = check_write(t, *x, Order::relaxed, v);
    }
    t.unfinished = {address_of(a), to_bits(old), pc_of(frame), keep_stack(t, frame), sizeof(T)};
    watched_atomic.report();
    AccessNote note = note_of(Access::store, Order::relaxed, a, old, frame);
    note.has_value = false;  // what it writes is not known yet
    if (violated) report(t, note, v);
}

template <class T>
void end_write(Thread& t, T volatile* a, UnfinishedWrite const& write) {
    T const old = static_cast<T>(write.old), value = peek(a);
    {
        LockedCell x(t, write.address, CellKind::atomic);
        if (!x) return;
        races::publish(t, x->race_message, false, false);
        AccessSite const site{write.pc, write.stack, Access::store, Order::relaxed};
        keep_in_step(x, write.old, sizeof(T));
        if (!writes_over_known(t, *x, to_bits(value), false, site))
            write_part(t, *x, to_bits(value), false, site);
        if (is_weak()) follow_weakly(t, x, a, old, value, site);
    }
    written(a, old != value);
}

// In a hook, which the thread enters.
void finish_write(Thread& t) {
    UnfinishedWrite const write = t.unfinished;
    t.unfinished = {};
    by_size(write.address, write.size, [&](auto* a) { end_write(t, a, write); });
}

void enter_hook() {
    if (current_thread().unfinished.size != 0) Hook const finishes_it;
}

}  // namespace

bool is_volatile_read(void const volatile* a, std::uint32_t size, void const* frame) {
    if (!counts(a, size)) [[likely]]
        return false;
    by_size(address_of(a), size, [&](auto* number) { read_volatile(number, frame); });
    return true;
}

bool is_volatile_write(void volatile* a, std::uint32_t size, void const* frame) {
    if (!counts(a, size)) [[likely]]
        return false;
    by_size(address_of(a), size, [&](auto* number) { begin_write(number, frame); });
    return true;
}

void start_volatile_accesses() {
    if (!options.volatile_relaxed) return;
    finish_unfinished_write = finish_write;
    gate |= finishes_writes;
    scheduler::before_others_run = enter_hook;
}

}  // namespace fencepost
