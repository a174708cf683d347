// S of a weak execution: the total order of its seq_cst accesses and SC fences, as far as it is settled.
//
// In a run that keeps to the newest writes, S can be the order of the run, and clocks say all that is needed
// (sc_clocks.hpp). If loads read old writes, it cannot: a seq_cst load of an old write comes before the newer
// one in S, although it was made later. So S is kept as what it is, a relation: for each event, those that
// must come before it, transitively. An execution has an S as long as nothing comes before itself.
//
// There is room for a few hundred events. If there are more, all that there are so far become one event, the
// *past*: what was before or after one of them is before or after all of them then. That forbids some
// executions and allows none.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fencepost::weak {

inline constexpr std::uint32_t most_sc_events = 256;
inline constexpr std::uint32_t past_event = 0;

// A set of SC events. What was said before the last time that events became the past is brought up to date
// where it is looked at. All zero: empty.
class ScEvents {
  public:
    bool empty() const;
    bool has(std::uint32_t event) const;
    void add(std::uint32_t event);
    void add_all(ScEvents const&);
    bool meets(ScEvents const&) const;

    // Calls action(event) for each.
    template <class Action>
    void each(Action action) const {
        Words const now = words();
        for (std::uint32_t i = 0; i < most_sc_events; ++i)
            if ((now.bits[i / 64] >> i % 64 & 1) != 0) action(i);
    }

  private:
    static constexpr std::size_t count = most_sc_events / 64;
    struct Words {
        std::uint64_t bits[count];
    };

    Words words() const;
    void bring_up_to_date();

    Words words_;
    std::uint32_t era_;
};

// How many events there are at most before they become the past; fewer than there is room for in tests.
extern std::uint32_t room_for_sc_events;

// There are no events.
void start_sc_order();
// Room for another event; true if all events so far have become the past.
bool make_room_for_sc_event();
// A new event, after these.
std::uint32_t add_sc_event(ScEvents const& after);
// Those and all that must come before them.
ScEvents with_all_before(ScEvents const&);
// May each of the one come before each of the other? The first set is closed under what must come before.
inline bool may_come_before(ScEvents const& closed, ScEvents const& others) {
    return !closed.meets(others);
}
void put_before(ScEvents const& closed, ScEvents const& others);

}  // namespace fencepost::weak
