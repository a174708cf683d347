// What is done to one state: its checks, and the steps of its threads.
//
// Found things are kept as places, a state and a thread; `Replay` (replay.hpp) makes runs of them when the
// search is over.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/explorer.hpp"
#include "engine/persistent_sets.hpp"
#include "engine/store.hpp"
#include "engine/symmetry.hpp"

namespace holdfast {

using Accesses = std::span<std::optional<Access> const>;

// The next access of a thread in a state; for failures before any access, of no state.
struct Place {
    StateNumber state;
    std::uint32_t thread;
};

struct Findings {
    struct RacingAccess {
        Place place;
        std::uint32_t other;  // the thread whose next access it races with, or `none`: an earlier one
        Race::Earlier earlier;
    };
    std::optional<Place> violation;
    std::optional<RacingAccess> race;
    std::optional<Place> failure;
};

template <class Monitor>
class Expansion {
  public:
    Expansion(Machine<Monitor> const& machine, Symmetry<Monitor> const& symmetry,
              std::optional<PersistentSets> reduction)
        : program_(machine.program()),
          machine_(machine),
          symmetry_(symmetry),
          reduction_(std::move(reduction)),
          current_(machine.words()),
          successors_(machine.words()),
          accesses_(program_.threads.size()) {}

    // Where the state to be expanded is put.
    Word* state() { return current_.data(); }
    Accesses accesses() const { return accesses_; }
    StateList& successors() { return successors_; }
    std::vector<Origin> const& origins() const { return origins_; }
    Findings& findings() { return findings_; }

    void start() {
        machine_.start(successors_, failure_);
        for (std::size_t i = 0; i < successors_.size(); ++i) add_origin(no_state, 0, i);
        note_failure({no_state, none});
    }
    void hand_over(StateList& successors, std::vector<Origin>& origins) {
        std::swap(successors_, successors);
        std::swap(origins_, origins);
        clear_successors();
    }
    void clear_successors() {
        successors_.clear();
        origins_.clear();
    }

    // Looks at the state, whose number is n; true if it violates robustness.
    bool check(StateNumber n) {
        for (std::uint32_t t = 0; t < accesses_.size(); ++t) accesses_[t] = machine_.next_access(state(), t);
        for (std::uint32_t t = 0; t < accesses_.size(); ++t) {
            if (!accesses_[t] || !leaves_sc(t, *accesses_[t])) continue;
            findings_.violation = Place{n, t};
            return true;
        }
        if (program_.has_non_atomic && !findings_.race) find_race(n);
        return false;
    }

    // Appends the successors, of all threads or of a persistent set; after `check`.
    void step(StateNumber n) {
        auto const threads = reduction_ ? reduction_->choose(machine_, state(), accesses_) : ~Threads{0};
        if (!step(n, threads)) step(n, ~threads);
    }

  private:
    using Threads = PersistentSets::Threads;

    // Steps these threads; whether one of them got on in its code (see persistent_sets.hpp).
    bool step(StateNumber n, Threads threads) {
        bool forwards = false;
        for (std::uint32_t t = 0; t < accesses_.size(); ++t) {
            if (!accesses_[t] || (threads >> t & 1) == 0) continue;
            auto const before = successors_.size();
            machine_.step(state(), t, *accesses_[t], successors_, failure_);
            auto const point = machine_.point(state(), t);
            for (auto i = before; i < successors_.size(); ++i) {
                forwards = forwards || machine_.point(successors_[i], t) > point;
                add_origin(n, t, i - before);
            }
            note_failure({n, t});
        }
        return forwards;
    }

    // Of the next successor that has none, as number `choice` of its step.
    void add_origin(StateNumber parent, std::uint32_t t, std::size_t choice) {
        Word* const state = successors_[origins_.size()];
        symmetry_.sort(state, [&]([[maybe_unused]] std::uint32_t number) {
            if constexpr (requires { machine_.monitor().exchanged(state, number); })
                machine_.monitor().exchanged(state, number);
        });
        origins_.push_back({parent, t & 0xff, static_cast<std::uint32_t>(choice) & 0xffffff});
    }

    void note_failure(Place place) {
        if (failure_ && !findings_.failure) findings_.failure = place;
    }

    // rocker-2019, Theorem 5.3, for every label that the program, not only the memory, enables.
    bool leaves_sc(std::uint32_t t, Access const& a) const {
        if constexpr (!Monitor::watches) {
            return false;
        } else {
            Word const* const state = current_.data();
            auto const& monitor = machine_.monitor();
            auto const& i = *a.instruction;
            if (i.non_atomic || !monitor.aware(state, t, a.cell)) return false;
            auto const& views = monitor.views();
            auto const view = monitor.current(t);
            switch (i.op) {
                case Op::load:
                    return views.any_plain(state, view, a.cell);
                case Op::wait:
                    return machine_.any_awaited(state, t, i,
                                                [&](Value v) { return views.plain(state, view, a.cell, v); });
                case Op::store:
                case Op::fetch_add:
                case Op::exchange:
                case Op::sc_fence:
                    return views.any_free(state, view, a.cell);
                case Op::compare_exchange:
                    return views.free(state, view, a.cell, a.first) ||
                           views.plain_but(state, view, a.cell, a.first);
                default:  // Op::blocking_compare_exchange
                    return views.free(state, view, a.cell, a.first);
            }
        }
    }

    void find_race(StateNumber n) {
        if constexpr (!Monitor::has_modes) {
            find_conflict(n);
        } else if constexpr (Monitor::watches) {
            find_unordered_access(n);
        }
    }

    // An access that is not ordered after all earlier ones it conflicts with.
    void find_unordered_access(StateNumber n) {
        auto const& monitor = machine_.monitor();
        for (std::uint32_t t = 0; t < accesses_.size(); ++t) {
            auto const& a = accesses_[t];
            if (!a || !a->instruction->non_atomic) continue;
            bool const writes = a->instruction->op == Op::store;
            auto const earlier =
                monitor.views().unknown(current_.data(), monitor.current(t), a->cell, writes);
            if (!earlier) continue;
            findings_.race = {{n, t}, none, {earlier->write, earlier->thread}};
            return;
        }
    }

    // rocker-2019, Definition 6.1.
    void find_conflict(StateNumber n) {
        auto const non_atomic = [](std::optional<Access> const& a) {
            return a && a->instruction->non_atomic;
        };
        for (std::uint32_t t = 0; t < accesses_.size(); ++t) {
            auto const& a = accesses_[t];
            if (!non_atomic(a)) continue;
            for (std::uint32_t u = t + 1; u < accesses_.size(); ++u) {
                auto const& b = accesses_[u];
                if (!non_atomic(b) || a->cell != b->cell) continue;
                if (a->instruction->op == Op::load && b->instruction->op == Op::load) continue;
                findings_.race = {{n, t}, u, {}};
                return;
            }
        }
    }

    Program const& program_;
    Machine<Monitor> const& machine_;
    Symmetry<Monitor> const& symmetry_;
    std::optional<PersistentSets> reduction_;
    std::vector<Word> current_;
    StateList successors_;
    std::vector<Origin> origins_;                  // of the successors
    std::vector<std::optional<Access>> accesses_;  // of the threads, in the state being expanded
    std::optional<Failure> failure_;
    Findings findings_;
};

}  // namespace holdfast
