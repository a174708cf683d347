// From a state back to a run: its origins to the start, executed forwards.
#pragma once

#include <functional>
#include <numeric>
#include <vector>

#include "engine/search/expansion.hpp"

namespace fencepost {

// How a state was reached, and which exchanges of threads followed although the program state is the same
// before and after.
struct Origins {
    std::function<Origin(StateNumber)> of;
    std::function<std::vector<std::uint32_t>(StateNumber)> exchanges = nullptr;
};

// Local accesses are shown only before a later access of the same thread, so that threads without a part in
// the finding do not fill the run.
template <class Monitor>
class Replay {
  public:
    // Before anything has happened.
    Replay(Machine<Monitor> const& machine, Symmetry<Monitor> const& symmetry)
        : machine_(machine),
          symmetry_(symmetry),
          now_(machine.words()),
          sorted_(machine.words()),
          next_(machine.words()),
          thread_(machine.program().threads.size()),
          waiting_(machine.program().threads.size()) {
        std::iota(thread_.begin(), thread_.end(), 0u);
    }
    // At state n.
    Replay(Machine<Monitor> const& machine, Symmetry<Monitor> const& symmetry, StateNumber n,
           Origins const& origins)
        : Replay(machine, symmetry) {
        std::vector<StateNumber> path{n};
        while (origins.of(path.back()).parent != no_state) path.push_back(origins.of(path.back()).parent);
        start(origins.of(path.back()));
        path.pop_back();
        for (; !path.empty(); path.pop_back()) {
            follow(origins.of(path.back()));
            if (!origins.exchanges) continue;
            for (auto number : origins.exchanges(path.back())) exchange(number);
        }
    }

    Events const& run() const { return run_; }
    Word const* state() { return now_[0]; }
    // Which thread of `state` is thread t of the stored state.
    std::uint32_t thread(std::uint32_t t) const { return thread_[t]; }

    Access next_access(std::uint32_t t) { return *machine_.next_access(state(), t); }
    // Adds what t has done since its last access to the run.
    void catch_up(std::uint32_t t) {
        run_.insert(run_.end(), waiting_[t].begin(), waiting_[t].end());
        waiting_[t].clear();
    }
    // Adds that, and its next access.
    void act(std::uint32_t t) {
        catch_up(t);
        run_.push_back(event_of(machine_, state(), t, next_access(t)));
    }
    // What happened between two accesses. A weak fence, if the model knows it, is shown at once unless a
    // local access that waits to be shown comes before it.
    void note(Events const& trace) {
        for (auto const& event : trace) {
            bool const weak_fence = event.cell == none;
            if (weak_fence && !machine_.monitor().has_modes) continue;
            auto& waiting = waiting_[event.thread];
            (weak_fence && waiting.empty() ? run_ : waiting).push_back(event);
        }
    }

    // Adds what happened in a failing step before it failed.
    void fail(Failure const& failure) {
        note(failure.trace);
        catch_up(failure.thread);
    }

  private:
    void start(Origin const& origin) {
        std::optional<Failure> ignored;
        machine_.start(next_, ignored, &traces_);
        note(traces_[origin.choice]);
        now_.push(next_[origin.choice]);
        sorted_.push(next_[origin.choice]);
        sort();
    }

    void follow(Origin const& origin) {
        auto const t = thread_[origin.thread];
        act(t);
        step(now_, t, origin.choice);
        note(traces_[origin.choice]);
        if (symmetry_.empty()) return;
        step(sorted_, origin.thread, origin.choice);
        sort();
    }

    // Equal threads have equal choices, in the same order.
    void step(StateList& state, std::uint32_t t, std::uint32_t choice) {
        std::optional<Failure> ignored;
        next_.clear();
        traces_.clear();
        machine_.step(state[0], t, *machine_.next_access(state[0], t), next_, ignored, &traces_);
        state.clear();
        state.push(next_[choice]);
    }

    // Other renamings leave threads where they are.
    void exchange(std::uint32_t number) {
        if (number >= machine_.program().exchanges.size()) return;
        auto const& e = machine_.program().exchanges[number];
        std::swap(thread_[e.first], thread_[e.second]);
    }
    void sort() {
        symmetry_.sort(sorted_[0], [&](std::uint32_t number) { exchange(number); });
    }

    Machine<Monitor> const& machine_;
    Symmetry<Monitor> const& symmetry_;
    StateList now_;     // one state: where the run has come to
    StateList sorted_;  // one state: the same, as it is stored
    StateList next_;
    std::vector<std::uint32_t> thread_;
    std::vector<Events> traces_;
    Events run_;
    std::vector<Events> waiting_;  // per thread, to be shown before its next access
};

// Makes runs of what was found.
template <class Monitor>
class Description {
  public:
    Description(Machine<Monitor> const& machine, Symmetry<Monitor> const& symmetry, Origins const& origins)
        : machine_(machine), symmetry_(symmetry), origins_(origins) {}

    Violation violation(ThreadInState const& at) const {
        auto replay = run_to(at);
        auto const t = replay.thread(at.thread);
        auto const a = replay.next_access(t);
        replay.catch_up(t);
        Violation v{replay.run(), t, a.pc, a.cell, a.first, a.second, {}};
        if (a.instruction->op == Op::wait) v.awaited = machine_.awaited(replay.state(), t, *a.instruction);
        return v;
    }

    Race race(Findings::RacingAccess const& found) const {
        auto replay = run_to(found.at);
        auto const t = replay.thread(found.at.thread);
        if (found.other == none) {
            replay.act(t);
            return {replay.run(), Race::Earlier{found.earlier.write, replay.thread(found.earlier.thread)}};
        }
        auto const u = replay.thread(found.other);
        replay.catch_up(u);
        replay.act(t);
        replay.act(u);
        return {replay.run(), std::nullopt};
    }

    FailedRun failure(ThreadInState const& at) const {
        StateList ignored(machine_.words());
        std::vector<Events> traces;
        std::optional<Failure> failure;
        if (at.state == no_state) {
            machine_.start(ignored, failure, &traces);
            Replay replay(machine_, symmetry_);
            std::erase_if(traces[0], [&](Event const& e) { return e.thread == failure->thread; });
            replay.note(traces[0]);  // the others have passed their fences
            replay.fail(*failure);
            return {replay.run(), *failure};
        }
        auto replay = run_to(at);
        auto const t = replay.thread(at.thread);
        machine_.step(replay.state(), t, replay.next_access(t), ignored, failure, &traces);
        replay.act(t);
        replay.fail(*failure);
        return {replay.run(), *failure};
    }

    Deadlock deadlock(StateNumber n) const {
        auto replay = run_to({n, none});
        std::vector<Deadlock::Waiting> waiting;
        for (std::uint32_t t = 0; t < machine_.program().threads.size(); ++t) {
            auto const access = machine_.next_access(replay.state(), t);
            if (!access) continue;
            replay.catch_up(t);
            waiting.push_back({t, access->pc, access->cell, machine_.cell(replay.state(), access->cell)});
        }
        return {replay.run(), waiting};
    }

  private:
    Replay<Monitor> run_to(ThreadInState const& at) const {
        return Replay(machine_, symmetry_, at.state, origins_);
    }

    Machine<Monitor> const& machine_;
    Symmetry<Monitor> const& symmetry_;
    Origins const& origins_;
};

template <class Monitor>
void describe(Findings const& findings, Machine<Monitor> const& machine, Symmetry<Monitor> const& symmetry,
              Origins const& origins, Result& result) {
    Description const description(machine, symmetry, origins);
    if (findings.violation) result.violation = description.violation(*findings.violation);
    if (findings.tainted_use) result.tainted_use = description.failure(*findings.tainted_use);
    if (findings.race) result.race = description.race(*findings.race);
    if (findings.failure) result.failure = description.failure(*findings.failure);
    if (findings.deadlock) result.deadlock = description.deadlock(*findings.deadlock);
}

}  // namespace fencepost
