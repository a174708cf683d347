// Which executions are still to be run: Optimal-DPOR with wakeup trees (Abdulla, Aronis, Jonsson and Sagonas,
// JACM 64(4), 2017, algorithm 2), one complete execution for each way to order dependent events.
//
// Executions form a tree. A state of it is what an execution has come to after some events, and has
//   a sleep set    events that need not come next, because all executions in which they do have been run, or
//                  are being run
//   branches       sequences of events that shall be run from here: the wakeup tree
// After an execution each of its races, two events that could come in the other order, becomes a branch at
// the state before the first of the two, unless the executions with that order are among those run or to be
// run. The next execution takes the first branch of the last state that has one.
//
// Beyond the paper: a choice has alternatives, each of which is a branch where it was made, under the same
// rules as other branches; choices stay together with the event that they follow. An event may have to wait
// (`until`), which is decided by what its object was at the place to which it would move; and an event that
// waits for ever, or that the end of the process came before, is in races too.
//
// Several walks may go through one tree at the same time, each with an execution of its own. The proof of the
// algorithm needs that a branch is begun only when the executions of all that sleeps there have been run:
// they find branches that would else be missed. So a walk may take a branch only if its first event depends
// on all events that others have taken at the same state and not come to an end with; what sleeps after it
// has been run then, as the proof wants it. A state goes when no walk is below it any more; until then races
// may add branches to it. A walk that finds no branch goes to one of another walk, as near to the beginning
// as there is one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/schedule/event.hpp"
#include "sanitizer/system/row.hpp"

namespace fencepost::scheduler {

class Walk;

// What all walks share.
class Exploration {
  public:
    explicit Exploration(ScFences fences) : fences_(fences) {}
    Exploration(Exploration const&) = delete;
    Exploration& operator=(Exploration const&) = delete;

    // Something became known that changes which races there are: all begins anew. What walks have begun
    // before counts for nothing.
    void restart();

    // Has a walk begun an execution that is not over?
    bool is_running() const;
    // Is there nothing left, and nobody who could find more?
    bool is_complete() const;

    // The share of all executions that has been run, if branches not yet seen are like those seen.
    double share() const;

  private:
    friend class Walk;
    friend class ExplorationFile;

    ScFences const fences_;
    std::uint32_t number_ = 0;  // goes on with each restart
    bool begun_ = false;        // a walk has the first execution
    Row<Walk*> walks_;
};

class Walk {
  public:
    explicit Walk(Exploration&);
    ~Walk();
    Walk(Walk const&) = delete;
    Walk& operator=(Walk const&) = delete;

    // Plans the next execution; false if there is none for now. Others may find more as long as the
    // exploration is not complete.
    bool advance();

    // What the next execution shall begin with. The events in sleeping() must not come next where the plan
    // has its event number changed(), nor later, for as long as nothing dependent on them has happened.
    Row<Event> const& plan() const { return plan_; }
    Row<Event> const& sleeping() const { return sleeping_; }
    std::size_t changed() const { return changed_; }

    // The execution went by the plan, and then like this to its end; pending events come last.
    void completed(Event const* events, std::size_t count);
    // It was given up after these events, because it would lead to nothing new.
    void abandoned(Event const* events, std::size_t count);
    // Has the exploration begun anew since it was planned? Then it counts for nothing.
    bool is_outdated() const { return number_ != exploration_.number_; }

    double share() const;

  private:
    friend class Exploration;
    friend class ExplorationFile;

    struct Branch {
        Event event;
        Branch* first;  // of its own branches
        Branch* next;   // beside it
    };
    struct State {
        Event event;          // that has led here
        std::size_t place;    // of that event among those that sleep where it came from
        Row<Event> sleeping;  // the last of them are those that have been taken here
        std::uint32_t taken;  // how many
        Row<State*> open;     // where these have led, and walks are
        Branch* branches;
        std::uint32_t walks;        // that are here or below
        Row<std::uint32_t> past;    // per thread, how many events up to its last that happened before `event`
        Row<std::uint32_t> forced;  // the same, without what `event` meets on its object
    };
    struct Move {  // an event in a sequence that is to become a branch
        Event event;
        std::size_t number;
        bool moved;  // the second event of the race
    };

    std::size_t length() const { return states_.size() - 1; }
    Event const& event(std::size_t number) const { return states_[number + 1]->event; }
    Row<std::uint32_t> const& past(std::size_t number) const { return states_[number + 1]->past; }
    Row<std::uint32_t> const& forced(std::size_t number) const { return states_[number + 1]->forced; }

    void take_over(Event const* events, std::size_t count);
    void enter(std::size_t number, Event const&);
    void find_past(std::size_t number);
    void find_races(std::size_t later);
    void add_alternatives(std::size_t choice);
    void reverse(std::size_t first, Event const& moved, std::size_t later);
    void add_branch(std::size_t number, Row<Move>&);
    enum class Movable : std::uint8_t { no, perhaps, yes };
    Movable can_move(std::size_t first, std::size_t later, Event& moved) const;
    bool happens_before(std::size_t first, std::size_t later) const;
    bool precedes(Move const&, Move const&) const;
    bool can_come_first(Event const&, Row<Move> const&) const;
    void bring_choices_forward(Row<Move>&, std::size_t place) const;
    void insert(Branch** branches, Row<Move>&);
    bool go_to_another_walk();
    bool may_take_branch(State const&) const;
    bool take_branch();
    State& add_state();
    void drop_states(std::size_t from);
    void begin_first();
    void start_anew();
    static void release(Branch*);
    static void close(State& at, State const* child);

    Exploration& exploration_;
    std::uint32_t number_ = 0;
    bool runs_ = false;   // an execution is planned and not over
    Row<State*> states_;  // the first is that before all events
    std::size_t changed_ = 0;
    Row<Event> plan_;
    Row<Event> sleeping_;
};

}  // namespace fencepost::scheduler
