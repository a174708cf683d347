// What is done to one state: its checks, and the steps of its threads.
//
// Findings are kept as a state and a thread. `Replay` (replay.hpp) makes runs of them when the search is
// over.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/search/known_steps.hpp"
#include "engine/search/options.hpp"
#include "engine/search/persistent_sets.hpp"
#include "engine/search/symmetry.hpp"
#include "engine/state/store.hpp"

namespace fencepost {

// The next access of each thread, or nothing.
using Accesses = std::span<Access const* const>;

// The next access of a thread in a state; for failures before any access, of no state.
struct ThreadInState {
    StateNumber state;
    std::uint32_t thread;
};

struct Findings {
    struct RacingAccess {
        ThreadInState at;
        std::uint32_t other;  // the thread whose next access it races with, or `none`: an earlier one
        Race::Earlier earlier;
    };
    std::optional<ThreadInState> violation;
    std::optional<ThreadInState> tainted_use;
    std::optional<RacingAccess> race;
    std::optional<ThreadInState> failure;
    std::optional<StateNumber> deadlock;

    bool any() const { return violation || tainted_use || race || failure || deadlock; }
};

template <class Monitor>
class Expansion {
  public:
    Expansion(Machine<Monitor> const& machine, Symmetry<Monitor> const& symmetry,
              std::optional<PersistentSets> reduction)
        : program_(machine.program()),
          machine_(machine),
          symmetry_(symmetry),
          sorts_threads_(!symmetry.empty()),
          reduction_(std::move(reduction)),
          known_(machine),
          current_(machine.words()),
          successors_(machine.words()),
          standings_(program_.threads.size()),
          accesses_(program_.threads.size()) {}

    // Where the state to be expanded is put.
    Word* state() { return current_.data(); }
    Accesses accesses() const { return accesses_; }
    StateList& successors() { return successors_; }
    std::vector<Origin> const& origins() const { return origins_; }
    Findings& findings() { return findings_; }

    void start() {
        std::optional<Failure> failure;
        machine_.start(successors_, failure);
        for (std::size_t i = 0; i < successors_.size(); ++i) add_origin(i, no_state, 0, i);
        if (failure) note_failure({no_state, none}, false);  // nothing is tainted yet
    }
    // Swaps the successors and their origins with the given lists, whose contents are dropped.
    void hand_over(StateList& successors, std::vector<Origin>& origins) {
        std::swap(successors_, successors);
        std::swap(origins_, origins);
        successors_.clear();
    }
    void clear_successors() { successors_.clear(); }

    // Checks the state, which has number n; true if it violates robustness. Loads that taint are checked
    // where their registers are used.
    bool check(StateNumber n) {
        for (std::uint32_t t = 0; t < accesses_.size(); ++t) {
            auto& here = known_.standing(state(), t);
            standings_[t] = &here;
            accesses_[t] = here.access ? &*here.access : nullptr;
            if (!here.access || !here.violation.holds(state()) || here.access->instruction->taints) continue;
            findings_.violation = ThreadInState{n, t};
            return true;
        }
        if (program_.has_non_atomic && !findings_.race) find_race(n);
        return false;
    }

    // Appends the successors, of all threads or of a persistent set; after `check`. True if a tainted
    // register is used on the way.
    bool step(StateNumber n) {
        auto const before = successors_.size();
        auto const threads = reduction_ ? reduction_->choose(machine_, state(), accesses_) : ~Threads{0};
        if (!step(n, threads)) step(n, ~threads);
        if (successors_.size() == before && !findings_.deadlock && is_deadlock()) findings_.deadlock = n;
        return findings_.tainted_use.has_value();
    }

  private:
    using Threads = PersistentSets::Threads;

    // Steps these threads; true if one of them advanced in its code (persistent_sets.hpp).
    bool step(StateNumber n, Threads threads) {
        bool forwards = false;
        for (std::uint32_t t = 0; t < accesses_.size(); ++t) {
            if (accesses_[t] == nullptr || (threads >> t & 1) == 0) continue;
            auto const& step = known_.step(state(), t, *standings_[t]);
            if (!step.is_kept) {
                forwards = step_anew(n, t) || forwards;
                continue;
            }
            std::uint32_t choice = 0;
            for (auto const& outcome : known_.outcomes(step)) {
                known_.apply(outcome, successors_.push(state()));
                forwards |= outcome.forwards != 0;
                add_origin(successors_.size() - 1, n, t, choice++);
            }
            if (step.fails) note_failure({n, t}, step.uses_taint);
        }
        return forwards;
    }

    // A step that is not kept.
    bool step_anew(StateNumber n, std::uint32_t t) {
        bool forwards = false;
        std::optional<Failure> failure;
        auto const before = successors_.size();
        machine_.step(state(), t, *accesses_[t], successors_, failure);
        auto const point = machine_.point(state(), t);
        for (auto i = before; i < successors_.size(); ++i) {
            forwards = forwards || machine_.point(successors_[i], t) > point;
            add_origin(i, n, t, i - before);
        }
        if (failure) note_failure({n, t}, failure->is_tainted_use());
        return forwards;
    }

    // For successor i, which is number `choice` of its step.
    void add_origin(std::size_t i, StateNumber parent, std::uint32_t t, std::size_t choice) {
        if (i >= origins_.size()) make_room_for_origins();
        origins_[i] = {parent, t & 0xff, static_cast<std::uint32_t>(choice) & 0xffffff};
        if (sorts_threads_) sort_threads(i);
    }
    [[gnu::noinline]] void make_room_for_origins() { origins_.resize(2 * successors_.size() + 64); }
    [[gnu::noinline]] void sort_threads(std::size_t i) {
        Word* state = successors_[i];
        symmetry_.sort(state, [&]([[maybe_unused]] std::uint32_t number) {
            if constexpr (requires { machine_.monitor().exchanged(state, number); })
                machine_.monitor().exchanged(state, number);
        });
    }

    void note_failure(ThreadInState at, bool uses_taint) {
        auto& finding = uses_taint ? findings_.tainted_use : findings_.failure;
        if (!finding) finding = at;
    }

    // Whether in this state, from which nothing goes on, some thread waits and the others have ended. One
    // that runs for ever without access still moves.
    //
    // Only where threads stand and what cells hold decides this. So a state that another one covers, with a
    // larger monitor, is not missed; nor is one in which equal threads have changed places. Values that a
    // waiting access needs are in live registers and in cells that are never private
    // (static/private_locations.py). Persistent sets keep all states from which nothing goes on
    // (persistent_sets.hpp).
    bool is_deadlock() const {
        bool waits = false;
        for (std::uint32_t t = 0; t < accesses_.size(); ++t) {
            waits = waits || accesses_[t] != nullptr;
            if (machine_.point(current_.data(), t) == program_.threads[t].diverged()) return false;
        }
        return waits;
    }

    void find_race(StateNumber n) {
        if (!machine_.monitor().has_modes) {
            find_conflict(n);
        } else if constexpr (Monitor::watches) {
            find_unordered_access(n);
        }
    }

    // An access that is not ordered after all earlier ones it conflicts with.
    void find_unordered_access(StateNumber n) {
        auto const& monitor = machine_.monitor();
        for (std::uint32_t t = 0; t < accesses_.size(); ++t) {
            auto const* const a = accesses_[t];
            if (a == nullptr || !a->instruction->non_atomic) continue;
            bool const writes = a->instruction->op == Op::store;
            auto const earlier = monitor.views().missed(current_.data(), monitor.current(t), a->cell, writes);
            if (!earlier) continue;
            findings_.race = {{n, t}, none, {earlier->write, earlier->thread}};
            return;
        }
    }

    // rocker-2019, Definition 6.1.
    void find_conflict(StateNumber n) {
        auto const non_atomic = [](Access const* a) { return a != nullptr && a->instruction->non_atomic; };
        for (std::uint32_t t = 0; t < accesses_.size(); ++t) {
            auto const* const a = accesses_[t];
            if (!non_atomic(a)) continue;
            for (std::uint32_t u = t + 1; u < accesses_.size(); ++u) {
                auto const* const b = accesses_[u];
                if (!non_atomic(b) || a->cell != b->cell) continue;
                if (!conflict(a->instruction->op == Op::store, b->instruction->op == Op::store)) continue;
                findings_.race = {{n, t}, u, {}};
                return;
            }
        }
    }

    Program const& program_;
    Machine<Monitor> const& machine_;
    Symmetry<Monitor> const& symmetry_;
    bool sorts_threads_;
    std::optional<PersistentSets> reduction_;
    KnownSteps<Monitor> known_;
    std::vector<Word> current_;
    StateList successors_;
    std::vector<Origin> origins_;          // of the successors, and room for more
    std::vector<Standing*> standings_;     // of the threads, in the state being expanded
    std::vector<Access const*> accesses_;  // the same
    Findings findings_;
};

}  // namespace fencepost
