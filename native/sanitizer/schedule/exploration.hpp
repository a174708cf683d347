// Which executions are still to be run: Optimal-DPOR with wakeup trees (Abdulla, Aronis, Jonsson and Sagonas,
// JACM 64(4), 2017, algorithm 2), one complete execution for each way to order dependent events.
//
// The exploration keeps the events of the last execution. Before each of them there is
//   a sleep set    events that need not come next, because all executions in which they do have been run
//   branches       sequences of events that shall be run from here, after the current one: the wakeup tree
// After an execution each of its races, two events that could come in the other order, becomes a branch
// before the first of the two, unless the executions with that order are among those run or to be run. The
// next execution takes the first branch of the last event that has one.
//
// Beyond the paper: a choice has alternatives, each of which is a branch where it was made, under the same
// rules as other branches; choices stay together with the event that they follow. An event may have to wait
// (`until`), which is decided by what its object was at the place to which it would move; and an event that
// waits for ever, or that the end of the process came before, is in races too.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/schedule/event.hpp"
#include "sanitizer/system/row.hpp"

namespace fencepost::scheduler {

class Exploration {
  public:
    explicit Exploration(ScFences fences) : fences_(fences) {}
    ~Exploration();
    Exploration(Exploration const&) = delete;
    Exploration& operator=(Exploration const&) = delete;

    // What the next execution shall begin with. The events in sleeping() must not come next where the plan
    // has its event number changed(), nor later, for as long as nothing dependent on them has happened.
    Row<Event> const& plan() const { return plan_; }
    Row<Event> const& sleeping() const { return nodes_.empty() ? nobody_ : nodes_[changed_]->sleeping; }
    std::size_t changed() const { return changed_; }

    // The execution went by the plan, and then like this to its end; pending events come last.
    void completed(Event const* events, std::size_t count);
    // It was given up after these events, because it would lead to nothing new.
    void abandoned(Event const* events, std::size_t count);

    // Something became known that changes which races there are: all begins anew.
    void restart();

    // Plans the next execution; false if all have been run.
    bool advance();

    // The share of all executions that has been run, if branches not yet seen are like those seen.
    double share() const;

  private:
    struct Branch {
        Event event;
        Branch* first;  // of its own branches
        Branch* next;   // beside it
    };
    struct Node {
        Event event;
        Row<Event> sleeping;
        Branch* branches;
        std::uint32_t done;         // branches that have been run
        Row<std::uint32_t> past;    // per thread, how many nodes up to its last event that happened before
        Row<std::uint32_t> forced;  // the same, without what `event` meets on its object
    };
    struct Move {  // an event in a sequence that is to become a branch
        Event event;
        std::size_t node;
        bool moved;  // the second event of the race
    };

    void take_over(Event const* events, std::size_t count);
    void enter(std::size_t place, Event const&);
    void find_past(std::size_t place);
    void find_races(std::size_t later);
    void add_alternatives(std::size_t choice);
    void reverse(std::size_t first, Event const& moved, std::size_t later);
    void add_branch(std::size_t place, Row<Move>&);
    enum class Movable : std::uint8_t { no, perhaps, yes };
    Movable can_move(std::size_t first, std::size_t later, Event& moved) const;
    bool happens_before(std::size_t first, std::size_t later) const;
    bool precedes(Move const&, Move const&) const;
    bool can_come_first(Event const&, Row<Move> const&) const;
    void insert(Branch** branches, Row<Move>&);
    void follow(Branch*);
    Node& add_node();
    void drop_nodes(std::size_t from);

    ScFences const fences_;
    Row<Node*> nodes_;  // one for each event of the current execution
    std::size_t changed_ = 0;
    Row<Event> plan_;
    Row<Event> nobody_;
};

}  // namespace fencepost::scheduler
