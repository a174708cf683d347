// An execution graph while it is built: events, reads-from, modification order, and what each event knows.
//
// An RMW is two events, its read and right after it its write; only the read can be there without the write,
// for a moment. Initial writes are no events: a read of one reads from `initial`, and every write comes after
// it. What an event knows (porf, current, acquire, release, message) follows from what is before it in
// po ∪ rf, and is never changed by what is added elsewhere.
//
//     models/rules.py          here
//     C, A, R of the thread    current, acquire, release: right after the event
//     W of a write             message
#pragma once

#include <cstdint>
#include <vector>

#include "engine/graphs/event_set.hpp"
#include "engine/graphs/thread_steps.hpp"

namespace fencepost {

constexpr EventId initial = UINT32_MAX;      // in place of a write: the initial one
constexpr EventId nothing = UINT32_MAX - 1;  // in place of an event: there is none
constexpr NodeId undecided = UINT32_MAX;     // in place of a node: the thread has yet to choose one

struct GraphEvent {
    enum class Kind : std::uint8_t { read, write, fence, choice };
    Kind kind = Kind::fence;
    bool rmw = false;      // one of the two parts of an RMW
    bool blocked = false;  // a read of a value that its thread does not go on with
    bool atomic = true;    // of a read or write
    bool acquires = false, releases = false;
    bool sc = false;      // in S, under C++20
    bool drains = false;  // under TSO: waits for all writes before it, and all reads after it wait for it
    bool fences = false;  // acquires and releases as a fence does
    std::uint32_t thread = 0;
    std::uint32_t cell = none;
    std::uint32_t pc = 0;
    std::uint32_t stamp = 0;  // in which order the events were added
    std::uint32_t choice = 0;
    EventId previous = nothing;                // in the thread
    EventId source = nothing;                  // of a read: the write that it reads
    EventId older = nothing, newer = nothing;  // of a write: its neighbours in mo; the oldest has `initial`
    Value value = 0;                           // read or written
    NodeId node = 0;                           // where the thread stood
    NodeId after = undecided;                  // and stands now
    ThreadSteps::Step const* step = nullptr;
    EventSet porf;  // before it in po ∪ rf, itself included
    EventSet current, acquire, release;
    EventSet message;  // of a write
    EventSet readers;  // of a write

    bool reads() const { return kind == Kind::read; }
    bool writes() const { return kind == Kind::write; }
    bool awaits_its_write() const { return reads() && rmw; }
};

class ExecutionGraph {
  public:
    struct Cell {
        EventId oldest = nothing, newest = nothing;  // in mo, without the initial write
        EventSet readers;                            // of the initial write
    };

    ExecutionGraph(std::size_t threads, std::size_t cells) : last_(threads, nothing), cells_(cells) {}

    GraphEvent const& operator[](EventId e) const { return events_[e]; }
    EventId last(std::uint32_t t) const { return last_[t]; }
    Cell const& cell(std::uint32_t x) const { return cells_[x]; }
    std::size_t cells() const { return cells_.size(); }
    EventSet const& all() const { return all_; }
    std::size_t size() const { return size_; }
    bool is_full() const { return size_ + 2 >= most_events; }

    // The write after w in mo, and the readers of w.
    EventId newer(std::uint32_t x, EventId w) const {
        return w == initial ? cells_[x].oldest : events_[w].newer;
    }
    EventSet const& readers(std::uint32_t x, EventId w) const {
        return w == initial ? cells_[x].readers : events_[w].readers;
    }
    // What the thread knows before its next event.
    EventSet const& known(EventId previous) const {
        static EventSet const none_at_all;
        return previous == nothing ? none_at_all : events_[previous].current;
    }

    // Puts an event at the end of its thread: in a new place with the next stamp, or where it was. A write is
    // in no modification order yet. Says in which place it is.
    EventId add(GraphEvent event);
    void put_back(EventId e, GraphEvent event);
    // Takes away the last event of a thread; it is read by nobody, and in no modification order.
    void remove(EventId e);

    // Puts a write right after another one in mo, or takes it out.
    void insert(EventId write, EventId older);
    void take_out(EventId write);

    // Takes away all events of a set; if it has a write, it has its readers too.
    void remove_all(EventSet const& gone);

  private:
    void set(EventId e, GraphEvent event);
    void learn(GraphEvent& event, EventId e) const;
    EventSet& readers_of(GraphEvent const& read) {
        return read.source == initial ? cells_[read.cell].readers : events_[read.source].readers;
    }

    std::vector<GraphEvent> events_;
    EventSet all_;
    std::size_t size_ = 0;
    std::vector<EventId> free_;  // places
    std::vector<EventId> last_;  // per thread
    std::vector<Cell> cells_;
    std::uint32_t next_stamp_ = 0;
};

}  // namespace fencepost
