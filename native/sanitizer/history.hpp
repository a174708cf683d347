// What a location remembers of its writes: who knows which.
//
// A *step* says that the thread of a slot has known a write since a time of its own. Steps stand in the order
// in which they were taken, and since all of them concern the newest write of their moment, writes appear in
// modification order. So the newest write that a clock knows is found from the end. `base` is a write that
// everybody knows, the initial one at first; nobody asks for what was before it. A location that has no room
// for another step first moves its base as far as `known_to_all` (threads.hpp) lets it.
//
// The collector also drops steps that no clock can tell from later ones. If the write of such a step is then
// nowhere else, its value goes into the *gap* in front of the next step: the values of writes that nobody's
// knowledge ends with, each with the remark whether a write of it was followed by one that is not an RMW. A
// gap of too many values keeps none, and only questions about values of that location (waits, CAS) may then
// miss something.
#pragma once

#include <cstddef>
#include <cstdint>

#include "clock.hpp"
#include "orders.hpp"

namespace holdfast {

class Gap {
  public:
    static Gap* make(bool first_is_rmw);
    static void release(Gap*);

    bool first_is_rmw() const { return first_is_rmw_; }

    // The gap with one value more; it may have moved.
    [[nodiscard]] Gap* with(std::uint64_t value, bool free);
    [[nodiscard]] Gap* with_all_of(Gap const&);

    // Calls action(value, free) until it gives true.
    template <class Action>
    bool any(Action action) const {
        for (std::uint32_t i = 0; i < count_; ++i)
            if (action(values_[i].value, values_[i].free)) return true;
        return false;
    }

  private:
    static constexpr std::uint32_t most = 16;
    struct Value {
        std::uint64_t value;
        bool free;  // some write of it has a successor that is not an RMW
    };

    Gap* enlarged();
    static std::size_t bytes(std::uint32_t capacity) { return sizeof(Gap) + capacity * sizeof(Value); }

    bool first_is_rmw_;
    bool too_many_;  // then none is kept
    std::uint32_t count_, capacity_;
    Value values_[];
};

// Of a write, for reports.
struct Writer {
    std::uint32_t stack, thread;
    Access access;
    Order order;
};

struct Step {
    std::uint16_t slot;
    Access access;
    Order order;
    Time time;  // below 0 while the collector works: a later step of the slot has the same time
    // The write, the same in all steps that know it. Counts go round; only equality is asked.
    std::uint32_t index;  // place in modification order; the initial write has 0
    std::uint32_t plain;  // writes up to it that are not RMWs
    std::uint64_t value;
    Gap* gap;  // in front of this write; null if the write before it is in the step before
    std::uint32_t stack;
    std::uint32_t thread;  // that wrote it

    bool is_rmw() const { return access != Access::store; }
    bool known_to(Time const* clock) const { return clock[slot] >= time; }
};

class History {
  public:
    // The location begins anew; it holds `value`, which everybody knows.
    void begin(std::uint64_t value);
    // So does one whose memory was written by code that is not instrumented.
    void begin_again(std::uint64_t value);
    void end();

    // A step of a new write. It is written as a whole: what is there already may be far away.
    [[gnu::always_inline]] void add_write(Slot slot, Time time, std::uint64_t value, Writer writer) {
        if (count_ == capacity_) make_room();
        newest_plain_ += writer.access == Access::store ? 1 : 0;
        steps_[count_++] = {.slot = static_cast<std::uint16_t>(slot),
                            .access = writer.access,
                            .order = writer.order,
                            .time = time,
                            .index = ++newest_index_,
                            .plain = newest_plain_,
                            .value = value,
                            .gap = nullptr,
                            .stack = writer.stack,
                            .thread = writer.thread};
    }

    // Somebody else knows the newest write.
    void add_knower(Slot slot, Time time) {
        if (count_ == capacity_) make_room();
        Step& step = steps_[count_];
        step = newest();
        ++count_;
        step.slot = static_cast<std::uint16_t>(slot);
        step.time = time;
        step.gap = nullptr;
    }

    // The position of the newest step that the clock knows; -1 is the base.
    std::ptrdiff_t known(Time const* clock, std::ptrdiff_t before) const {
        while (before >= 0 && !steps_[before].known_to(clock)) --before;
        return before;
    }
    Step const& newest() const { return at(last()); }
    std::ptrdiff_t last() const { return static_cast<std::ptrdiff_t>(count_) - 1; }
    Step const& at(std::ptrdiff_t position) const { return position < 0 ? base_ : steps_[position]; }

    // Does the clock know the newest write?
    bool knows_newest(Time const* clock) const {
        std::ptrdiff_t i = last();
        for (; i >= 0 && steps_[i].index == newest_index_; --i)
            if (steps_[i].known_to(clock)) return true;
        return newest_index_ == base_.index;
    }

    // Calls action(value, free) for each write from the one at `from` up to, but not with, the one at `to`:
    // free if its successor is not an RMW. Ends with true as soon as the action gives true.
    template <class Action>
    bool any_between(std::ptrdiff_t from, std::ptrdiff_t to, Action action) const {
        Step const* write = &at(from);
        for (std::ptrdiff_t i = from + 1; i <= to; ++i) {
            Step const& next = steps_[i];
            if (next.index == write->index) continue;
            bool const followed_by_rmw = next.gap != nullptr ? next.gap->first_is_rmw() : next.is_rmw();
            if (action(write->value, !followed_by_rmw)) return true;
            if (next.gap != nullptr && next.gap->any(action)) return true;
            write = &next;
        }
        return false;
    }

    // For the collector: new times by rename(slot, time), 0 meaning that everybody knows, also to
    // `known_to_all`; then steps that are no longer needed are dropped. Gives the number of steps left.
    template <class Rename>
    std::uint32_t compact(Rename rename);

  private:
    static constexpr std::uint32_t own = 2;

    void make_room();
    void release_gaps(std::uint32_t before);
    std::uint32_t move_base();
    void drop_before(std::uint32_t begin);
    void drop_known_to_all() { drop_before(move_base()); }
    void mark_superseded();
    void drop_superseded();
    void move_to(std::uint32_t capacity);
    void shrink();

    // A write that finds room needs no more than the first 64 bytes, or the first 104.
    Step* steps_;
    std::uint32_t count_;
    std::uint32_t capacity_ : 31;
    std::uint32_t has_gaps_ : 1;  // or had: without, no step needs to be looked at when they all go
    std::uint32_t newest_index_;
    std::uint32_t newest_plain_;
    Step own_steps_[own];  // where `steps_` are, while there are few
    Step base_;
};

// For how many steps there is room elsewhere than in their locations.
extern std::int64_t room_elsewhere;

template <class Rename>
std::uint32_t History::compact(Rename rename) {
    if (count_ == 0) return 0;
    for (std::uint32_t i = 0; i < count_; ++i) steps_[i].time = rename(steps_[i].slot, steps_[i].time);
    drop_known_to_all();
    if (count_ > 1) {
        mark_superseded();
        drop_superseded();
    }
    shrink();
    return count_;
}

}  // namespace holdfast
