// The history of a location: its writes, and which threads know them.
//
// A *step* says that the thread of a slot has known a write since a time of its own. Steps stand in the order
// in which they were taken, and since all of them concern the newest write of their moment, writes appear in
// modification order. So the newest write that a clock knows is found from the end. `base` is a write that
// everybody knows, the initial one at first; nobody asks for what was before it. A location that has no room
// for another step first moves its base as far as `known_to_all` (threads.hpp) lets it.
//
// The collector also drops steps that no clock can tell from later ones. If the write of such a step is then
// in no other step, its value goes into the *gap* in front of the next step: the values of writes that are
// the newest known one to nobody, each with a mark if a write of it was followed by one that is not an RMW. A
// gap of too many values keeps none; then only checks of values of that location (waits, CAS) may miss
// something.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/core/clock.hpp"
#include "sanitizer/core/knowledge.hpp"
#include "sanitizer/core/orders.hpp"
#include "sanitizer/core/sc_provenance.hpp"
#include "sanitizer/core/threads.hpp"
#include "sanitizer/system/processor.hpp"

namespace fencepost {

class Gap {
  public:
    static Gap* make(bool first_is_rmw);
    static void release(Gap*);

    bool first_is_rmw() const { return first_is_rmw_; }
    // Was a write in it followed by one that is not an RMW?
    bool any_free() const { return any_free_; }

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
    bool any_free_;
    bool too_many_;  // then none is kept
    std::uint32_t count_, capacity_;
    Value values_[];
};

// What reports say of a write.
struct Writer {
    std::uint32_t stack, thread;
    Access access;
    Order order;
};

struct Step {
    std::uint16_t slot;
    Access access;
    Order order : 7;
    bool marked : 1;  // taken by a seq_cst access (sc_clocks.hpp)
    Time time;        // below 0 while the collector works: a later step of the slot has the same time
    // The write, the same in all steps that know it.
    std::uint64_t value;
    Gap* gap;  // in front of this write; null if the write before it is in the step before
    std::uint32_t stack;
    std::uint32_t thread;  // that wrote it

    bool is_rmw() const { return access != Access::store; }
    bool known_to(Time const* clock) const { return clock[slot] >= time; }
    bool known_to(ScClock clock) const {
        return slot < clock.width &&
               (clock.writes()[slot] >= time || (marked && clock.accesses[slot] >= time));
    }
    // Does it know the write of the step before it?
    bool again() const { return gap == same_write(); }

    // In place of a gap.
    static Gap* same_write() { return reinterpret_cast<Gap*>(1); }
};
static_assert(sizeof(Step) == 32);

// A thread that has read the newest write.
struct Reader {
    Stamp stamp;
    PackedAccess access;
};

// The newest write is at hand, and mostly not in a step of its own. So a location that is written once, or
// only when everybody knows what was written before, has no steps. What a read needs comes first.
class History {
  public:
    PackedAccess read_access;
    Stamp read;           // by a thread that has read the newest write; all zero: none
    Stamp written;        // the newest write, from its writer's step; all zero: it is the initial one
    std::uint64_t value;  // of the newest write

    // The location begins anew; it holds `initial`, which everybody knows. There are no steps.
    void begin(std::uint64_t initial);
    // So does one whose memory was written by code that is not instrumented.
    void begin_again(std::uint64_t initial);
    void end();

    [[gnu::always_inline]] void add_write(Stamp stamp, std::uint64_t new_value, Writer writer) {
        if (written.known_to(known_to_all)) {
            base_value_ = value;
            if (count_ != 0) drop_all();
            has_stores_ = false;
        } else if (!listed_) {
            list_newest();
        }
        if (writer.access == Access::store) has_stores_ = true;
        listed_ = false;
        value = new_value;
        written = stamp;
        writer_ = writer;
    }

    // Soon there may be another step.
    void expect_step() const { prefetch_to_write(steps_ + count_); }

    // Somebody else knows the newest write; or the same by a marked step.
    void add_knower(Slot slot, Time time, bool marked);

    bool newest_known_to(Time const* clock) const { return written.known_to(clock); }
    // By whatever step.
    template <class Clock>  // Time const*, ScClock
    bool knows_newest(Clock clock) const;
    Writer newest_writer() const { return writer_; }
    // False: all writes after the base are RMWs, so that no write could have been overlooked by another one.
    bool may_have_stores() const { return has_stores_; }

    // Positions of steps; -1 is the base. The last one is the newest write, or somebody who knows it.
    std::ptrdiff_t last() const { return static_cast<std::ptrdiff_t>(count_) - (listed_ ? 1 : 0); }
    Step at(std::ptrdiff_t position) const;
    // That of the newest step that the clock knows, of those that are not after `from`.
    std::ptrdiff_t known(Time const* clock, std::ptrdiff_t from) const;
    // Likewise if it is not a clock that knows it but `knows(step)`.
    template <class Knows>
    std::ptrdiff_t last_known(Knows knows, std::ptrdiff_t from) const {
        while (from >= 0 && !knows(at(from))) --from;
        return from;
    }

    // Is there a write after the one at `from` and not after the one at `to`? One that is not an RMW?
    bool any_write_between(std::ptrdiff_t from, std::ptrdiff_t to) const;
    bool any_store_between(std::ptrdiff_t from, std::ptrdiff_t to) const;

    // Calls action(value, free) for each write from the one at `from` up to, but not with, the one at `to`:
    // free if its successor is not an RMW. Ends with true as soon as the action gives true.
    template <class Action>
    bool any_between(std::ptrdiff_t from, std::ptrdiff_t to, Action action) const {
        std::uint64_t before = at(from).value;
        for (std::ptrdiff_t i = from + 1; i <= to; ++i) {
            Step const next = at(i);
            if (next.again()) continue;
            bool const followed_by_rmw = next.gap != nullptr ? next.gap->first_is_rmw() : next.is_rmw();
            if (action(before, !followed_by_rmw)) return true;
            if (next.gap != nullptr && next.gap->any(action)) return true;
            before = next.value;
        }
        return false;
    }

    // For the collector, when it has renamed `written`: new times by rename(slot, time), 0 meaning that
    // everybody knows, also to `known_to_all`; then steps that are no longer needed are dropped. Gives the
    // number of steps left.
    template <class Rename>
    std::uint32_t compact(Rename rename);

  private:
    Step newest_step() const {
        Step step;
        step.slot = static_cast<std::uint16_t>(written.slot());
        step.access = writer_.access;
        step.order = writer_.order;
        step.marked = writer_.order == Order::seq_cst;
        step.time = written.time();
        step.value = value;
        step.gap = nullptr;
        step.stack = writer_.stack;
        step.thread = writer_.thread;
        return step;
    }
    [[gnu::always_inline]] void list_newest() {
        if (count_ == capacity_) make_room();
        steps_[count_++] = newest_step();
        listed_ = true;
    }
    void unlist_newest();
    void make_room();
    void release_gaps(std::uint32_t before);
    std::uint32_t move_base();
    void drop_before(std::uint32_t begin);
    void drop_all() { drop_before(count_); }
    void drop_known_to_all() { drop_before(move_base()); }
    bool mark_superseded();  // whether there are any
    void drop_superseded();
    void move_to(std::uint32_t capacity);
    void shrink();

    Step* steps_;
    std::uint32_t count_;
    std::uint32_t capacity_ : 29;
    std::uint32_t listed_ : 1;      // the newest write is among the steps, or the base
    std::uint32_t has_gaps_ : 1;    // or had: without, no step needs to be looked at when they all go
    std::uint32_t has_stores_ : 1;  // or had, since the base was last the newest write
    std::uint64_t base_value_;
    Writer writer_;  // of the newest write
};

// For how many steps there is room elsewhere than in their locations.
extern std::int64_t room_elsewhere;
// The thread will end: what it has not told yet goes to the others, and its free blocks.
void leave_room();

template <class Rename>
std::uint32_t History::compact(Rename rename) {
    if (count_ != 0) {
        for (std::uint32_t i = 0; i < count_; ++i) steps_[i].time = rename(steps_[i].slot, steps_[i].time);
        if (!listed_) list_newest();
        drop_known_to_all();
        if (mark_superseded()) drop_superseded();
        unlist_newest();
    }
    shrink();
    return count_;
}

}  // namespace fencepost
