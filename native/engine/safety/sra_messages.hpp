// opSRA (sra-2020, section 4) as messages and views (Remark 2), with only what can still matter.
//
//   execution graph                       here
//   writes to x, by mo                    the messages of x, one after the other
//   what thread t has observed            per cell the last such message: a view
//   what a write was made upon            the view of its writer, kept with the message
//
//   WRITE  W(x, v)     a last message of x with the view of the thread, which has then seen it
//   READ   R(x, v)     some message of v, unless the thread has seen a later one; it adds its view
//   RMW    RMW(x, …)   the last message of x, and then as a write
//
// A message goes when no thread can read it any more, unless it is the last one and an RMW, a race or the bad
// states ask for that. A view counts twice: 2j + 1 says that message j of a cell is the last one seen, 2j
// that it is one that has gone, after message j - 1 and before j.
//
// Of two states that differ in views only, the one with lower views can do all that the other can. What a
// view says without consequence is made as high as can be, so that more states are equal or comparable.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/safety/relevance.hpp"

namespace fencepost {

using Seen = std::uint8_t;
constexpr std::uint32_t most_messages_of_a_cell = 127;

struct SraState {
    struct Message {
        std::uint32_t value;
        std::uint32_t writer;  // only for runs that are shown; states are merged without it
    };
    std::vector<std::uint32_t> nodes;  // per thread
    std::vector<Seen> views;           // per thread and cell
    std::vector<std::uint32_t> begin;  // per cell: its first message; then their number
    std::vector<Message> messages;     // by cell, in mo
    std::vector<Seen> message_views;   // per message and cell
};

class SraMessages {
  public:
    SraMessages(ThreadGraphs const& graphs, NumberedLabels const& labels, SraNeeds const& needs);

    SraState initial(std::vector<std::uint32_t> const& nodes);

    std::uint32_t count(SraState const& state, std::uint32_t x) const {
        return state.begin[x + 1] - state.begin[x];
    }
    SraState::Message const& message(SraState const& state, std::uint32_t x, std::uint32_t j) const {
        return state.messages[state.begin[x] + j];
    }
    // The first message of x that a thread with this view can read.
    std::uint32_t first_readable(Seen const* view, std::uint32_t x) const { return view[x] / 2u; }
    bool has_seen_last(SraState const& state, Seen const* view, std::uint32_t x) const {
        return view[x] == seen(count(state, x) - 1);
    }

    // A read, by a thread with this view, of message j of x, or by an RMW of the last one.
    void read(SraState const& state, Seen* view, std::uint32_t x, std::uint32_t j) const;
    void read_last(SraState const& state, Seen* view, std::uint32_t x) const;
    // A write by t, which has its view in the state.
    void write(SraState& state, std::uint32_t t, std::uint32_t x, std::uint32_t value) const;
    // Leaves out what cannot matter any more.
    void forget(SraState& state);

    // `key`: where the threads stand, and the values of the messages. It tells how long `views` is.
    void pack(SraState const& state, std::vector<std::uint8_t>& key, std::vector<Seen>& views);
    void unpack(std::uint8_t const* key, Seen const* views, SraState& state);  // without the writers

  private:
    static Seen seen(std::uint32_t j) { return static_cast<Seen>(2 * j + 1); }

    void join(SraState const& state, Seen* view, std::uint32_t x, std::uint32_t j) const;
    void look_at_cells(SraState const& state);
    bool find_stale(SraState const& state);
    bool is_readable(SraState const& state, std::uint32_t x, std::uint32_t j) const;
    void drop_stale(SraState& state);
    void move_views(SraState& state);
    void raise(Seen* view) const;
    void raise_thread(SraState& state, std::uint32_t t) const;
    bool tells_others(SraState const& state, std::uint32_t t) const;
    void raise_message(SraState& state, std::uint32_t x, std::uint32_t j);
    bool tells(SraState const& state, std::uint32_t x, std::uint32_t j, std::uint32_t t) const;
    template <class Each>
    void each_row(SraState& state, Each each) const;
    template <class State, class Each>
    void each_packed_view(State& state, Each each);

    NumberedLabels const& labels_;
    SraNeeds const& needs_;
    std::uint32_t threads_, cells_;
    std::vector<unsigned> node_bytes_, value_bytes_;

    // Of the state at hand, per cell.
    struct CellNeeds {
        bool last = false;  // an RMW, a race or the bad states ask for the last message
        bool race = false;
        Seen low = 0;  // no thread that reads the cell has a lower view of it
        Seen top = 0;  // no view is higher
    };
    std::vector<CellNeeds> cell_;
    std::vector<bool> stays_;  // per message
    std::vector<Seen> moved_;  // per cell and view of it: the view of the messages that stay
    std::vector<Seen> lowest_;
    std::vector<std::uint32_t> viewed_;
};

}  // namespace fencepost
