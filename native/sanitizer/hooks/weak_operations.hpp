// What weak executions (core/weak_memory.hpp) are told of operations, and which write a load reads in them.
// The location is locked.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/core/locations.hpp"
#include "sanitizer/core/orders.hpp"
#include "sanitizer/core/robustness.hpp"
#include "sanitizer/core/weak_memory.hpp"
#include "sanitizer/races/feed.hpp"
#include "sanitizer/schedule/scheduler.hpp"

namespace fencepost {

// Is this thread in a weak execution? One beside the schedule ends it: nobody can follow such a thread.
inline bool is_weak() {
    if (!weak::on) [[likely]]
        return false;
    if (!scheduler::active()) weak::stop();
    return weak::on;
}

// It reads the write that is `age` steps behind the newest.
template <class T>
void read_old(Thread& t, weak::Location& location, T const volatile* a, Order order, std::uint32_t age,
              T& value, weak::MissedWrites& missed) {
    weak::ReadWrite const read = weak::read(t, location, order, age);
    weak::find_missed(location, age, missed);
    weak::has_read_old = true;
    value = static_cast<T>(read.value);
    races::acquire_message(t, *read.message, a, acquires(order));
}

// A load whose memory holds `newest`; true if it reads an old write, whose value is put into `value`.
template <class T>
[[gnu::noinline]] bool reads_old(Thread& t, LockedCell const& x, T const volatile* a, Order order, T newest,
                                 T& value, weak::MissedWrites& missed) {
    weak::Location* const location = weak::locate(x, reinterpret_cast<std::uintptr_t>(a), newest, sizeof(T));
    if (location == nullptr) return false;
    weak::Choices choices;
    weak::find_choices(t, *location, order, choices);
    std::uint32_t const age = choices.age[scheduler::choose_write(choices.count)];
    if (age == 0)
        weak::read(t, *location, order, 0);
    else
        read_old(t, *location, a, order, age, value, missed);
    return age != 0;
}

// The same for a compare-exchange, which then fails. If it does not read an old write, nothing is done.
template <class T>
[[gnu::noinline]] bool fails_by_old(Thread& t, LockedCell const& x, T const volatile* a, T expected,
                                    Order failure, T newest, T& value, weak::MissedWrites& missed) {
    weak::Location* const location = weak::locate(x, reinterpret_cast<std::uintptr_t>(a), newest, sizeof(T));
    if (location == nullptr) return false;
    weak::Choices choices;
    weak::find_choices_to_fail(t, *location, failure, expected, choices);
    std::uint32_t const age = choices.age[scheduler::choose_write(choices.count)];
    if (age != 0) read_old(t, *location, a, failure, age, value, missed);
    return age != 0;
}

// An access that reads the newest write, or writes after it: memory held `old`, and holds `now` if it writes.
[[gnu::noinline]] inline void follow_weakly(Thread const& t, LockedCell const& x, void const volatile* a,
                                            std::size_t size, weak::Value old, weak::Value now,
                                            AccessSite const& site) {
    weak::Location* const location = weak::locate(x, reinterpret_cast<std::uintptr_t>(a), old, size);
    if (location == nullptr) return;
    if (writes(site.access()))
        weak::write(t, *location, site.order(), {now, site.access() != Access::store, site.stack()},
                    x->race_message);
    else
        weak::read(t, *location, site.order(), 0);
}
template <class T>
void follow_weakly(Thread const& t, LockedCell const& x, T const volatile* a, T old, T now,
                   AccessSite const& site) {
    follow_weakly(t, x, a, sizeof(T), old, now, site);
}

}  // namespace fencepost
