// From a state back to a run: its origins to the start, executed forwards.
#pragma once

#include <numeric>
#include <vector>

#include "engine/expansion.hpp"

namespace holdfast {

// What a does in `state`, where it is not blocked.
template <class Monitor>
Event event_of(Machine<Monitor> const& machine, Word const* state, std::uint32_t t, Access const& a) {
    using enum EventKind;
    Value const old = machine.cell(state, a.cell);
    if (a.instruction->op == Op::sc_fence) return {t, a.pc, fence, a.cell, old, 0};
    auto const written = machine.written(state, a);
    if (!written) return {t, a.pc, read, a.cell, old, 0};
    return {t, a.pc, a.instruction->op == Op::store ? write : read_modify_write, a.cell, old, *written};
}

template <class Monitor>
class Replay {
  public:
    // `origin_of(n)` tells how state n was reached.
    template <class OriginOf>
    Replay(Machine<Monitor> const& machine, Symmetry<Monitor> const& symmetry, StateNumber n,
           OriginOf origin_of)
        : machine_(machine),
          symmetry_(symmetry),
          now_(machine.words()),
          sorted_(machine.words()),
          next_(machine.words()),
          thread_(machine.program().threads.size()) {
        std::iota(thread_.begin(), thread_.end(), 0u);
        std::vector<Origin> path{origin_of(n)};
        while (path.back().parent != no_state) path.push_back(origin_of(path.back().parent));
        start(path.back());
        path.pop_back();
        for (; !path.empty(); path.pop_back()) follow(path.back());
    }

    std::vector<Event> const& run() const { return run_; }
    Word const* state() { return now_[0]; }
    // Which thread of `state` is thread t of the stored state.
    std::uint32_t thread(std::uint32_t t) const { return thread_[t]; }

    Access next_access(std::uint32_t t) { return *machine_.next_access(state(), t); }
    Event next_event(std::uint32_t t) { return event_of(machine_, state(), t, next_access(t)); }

  private:
    void start(Origin const& origin) {
        std::optional<Failure> ignored;
        machine_.start(next_, ignored);
        now_.push(next_[origin.choice]);
        sorted_.push(next_[origin.choice]);
        sort();
        if constexpr (Monitor::has_modes) {
            for (std::uint32_t t = 0; t < machine_.program().threads.size(); ++t) {
                add_fences(t, machine_.fences_before_first_access(state(), t));
            }
        }
    }

    void follow(Origin const& origin) {
        auto const t = thread_[origin.thread];
        run_.push_back(next_event(t));
        step(now_, t, origin.choice);
        if constexpr (Monitor::has_modes) add_fences(t, traces_[origin.choice]);
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

    void sort() {
        symmetry_.sort(sorted_[0],
                       [&](std::uint32_t t, std::uint32_t u) { std::swap(thread_[t], thread_[u]); });
    }

    void add_fences(std::uint32_t t, FenceTrace const& fences) {
        for (auto pc : fences) run_.push_back({t, pc, EventKind::fence, none, 0, 0});
    }

    Machine<Monitor> const& machine_;
    Symmetry<Monitor> const& symmetry_;
    StateList now_;     // one state: where the run has come to
    StateList sorted_;  // one state: the same, as it is stored
    StateList next_;
    std::vector<std::uint32_t> thread_;
    std::vector<FenceTrace> traces_;
    std::vector<Event> run_;
};

// Makes runs of what was found.
template <class Monitor, class OriginOf>
void describe(Findings const& findings, Machine<Monitor> const& machine, Symmetry<Monitor> const& symmetry,
              OriginOf origin_of, Result& result) {
    if (auto const& found = findings.violation) {
        Replay replay(machine, symmetry, found->state, origin_of);
        auto const t = replay.thread(found->thread);
        auto const a = replay.next_access(t);
        Violation v{replay.run(), t, a.pc, a.cell, a.first, a.second, {}};
        auto const collect = [&v](Value awaited) {
            v.awaited.push_back(awaited);
            return false;
        };
        if (a.instruction->op == Op::wait) machine.any_awaited(replay.state(), t, *a.instruction, collect);
        result.violation = std::move(v);
    }
    if (auto const& found = findings.race) {
        Replay replay(machine, symmetry, found->place.state, origin_of);
        Race race{replay.run(), std::nullopt};
        race.run.push_back(replay.next_event(replay.thread(found->place.thread)));
        if (found->other == none) {
            race.earlier = {found->earlier.write, replay.thread(found->earlier.thread)};
        } else {
            race.run.push_back(replay.next_event(replay.thread(found->other)));
        }
        result.race = std::move(race);
    }
    if (auto const& found = findings.failure) {
        StateList ignored(machine.words());
        std::optional<Failure> failure;
        FailedRun failed;
        if (found->state == no_state) {
            machine.start(ignored, failure);
        } else {
            Replay replay(machine, symmetry, found->state, origin_of);
            auto const t = replay.thread(found->thread);
            failed.run = replay.run();
            failed.run.push_back(replay.next_event(t));
            machine.step(replay.state(), t, replay.next_access(t), ignored, failure);
        }
        failed.failure = *failure;
        result.failure = std::move(failed);
    }
}

}  // namespace holdfast
