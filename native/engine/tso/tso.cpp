#include "engine/tso/tso.hpp"

#include "engine/search/explorer.hpp"
#include "engine/search/persistent_sets.hpp"
#include "engine/tso/attack.hpp"
#include "engine/tso/attack_starts.hpp"
#include "engine/tso/solo_run.hpp"

namespace fencepost {

namespace {

using PlainMachine = Machine<NoMonitor>;

// Persistence and triangular races: the read that overtakes a write races with another thread's next step.
class PatternVisitor {
  public:
    struct Found {
        StateNumber state;
        std::uint32_t thread, other;
        FencePlaces path;
        std::vector<Event> alone;
        Event others;
    };

    PatternVisitor(Program const& program, PlainMachine const& machine, TsoQuestion const& question)
        : program_(program),
          machine_(machine),
          question_(question),
          solo_(program, machine, false, question.all),
          found_(program.threads.size()) {
        for (auto const& thread : program.threads) reads_ahead_.push_back(reads_ahead(thread, false));
    }

    bool visit(StateNumber n, Word const* state, Accesses accesses) {
        writes_.clear();
        for (std::uint32_t t = 0; t < accesses.size(); ++t) {
            if (!accesses[t]) continue;
            auto const value = machine_.written(state, *accesses[t]);
            if (value) writes_.push_back({t, accesses[t]->cell, *value});
        }
        for (std::uint32_t p = 0; p < accesses.size(); ++p) {
            if (question_.pivot != none && question_.pivot != p) continue;
            if (is_store(accesses[p]) && overtaken(n, state, accesses, p) && !question_.all) return true;
        }
        return false;
    }
    bool has_work() const { return false; }
    bool work() { return false; }
    std::uint64_t states() const { return 0; }
    std::size_t bytes() const { return 0; }

    std::vector<Found> found() const {
        std::vector<Found> flat;
        for (auto const& of_thread : found_) flat.insert(flat.end(), of_thread.begin(), of_thread.end());
        return flat;
    }

  private:
    struct Write {
        std::uint32_t thread, cell;
        Value value;
    };

    bool overtaken(StateNumber n, Word const* state, Accesses accesses, std::uint32_t p) {
        auto const& store = *accesses[p];
        auto const& ahead = reads_ahead_[p][store.pc];
        bool const hopeless = std::none_of(writes_.begin(), writes_.end(), [&](Write const& w) {
            return w.thread != p && w.cell != store.cell && ahead[w.cell];
        });
        if (hopeless) return false;
        auto const race = [&](std::uint32_t stop, Access const& read, Value value) {
            for (auto const& w : writes_) {
                if (w.thread == p || w.cell != read.cell) continue;
                if (question_.criterion != Criterion::trf && w.value == value) continue;
                note(n, state, accesses, p, stop, read, w.thread);
                return !question_.all;
            }
            return false;
        };
        auto const known = [&](FencePlaces const& path) {
            return std::any_of(found_[p].begin(), found_[p].end(),
                               [&](Found const& f) { return f.path.within(path); });
        };
        return solo_.run(state, p, store, race, known);
    }

    void note(StateNumber n, Word const* state, Accesses accesses, std::uint32_t p, std::uint32_t stop,
              Access const& read, std::uint32_t other) {
        auto const& path = solo_.stop(stop).path;
        std::erase_if(found_[p], [&](Found const& f) { return path.within(f.path); });
        auto events = solo_.events_to(stop);
        events.push_back({p, read.pc, EventKind::read, read.cell, machine_.cell(state, read.cell), 0});
        found_[p].push_back(
            {n, p, other, path, std::move(events), event_of(machine_, state, other, *accesses[other])});
    }

    Program const& program_;
    PlainMachine const& machine_;
    TsoQuestion question_;
    SoloRun<NoMonitor> solo_;
    std::vector<std::vector<CellSet>> reads_ahead_;  // per thread and instruction
    std::vector<Write> writes_;                      // what the threads' next steps write
    std::vector<std::vector<Found>> found_;          // per thread; no path includes another
};

// Robustness: every write that can be overtaken starts attacks.
class AttackVisitor {
  public:
    AttackVisitor(Program const& program, PlainMachine const& machine, std::size_t most_bytes)
        : program_(program), machine_(machine), starts_(program, machine), attacks_(program, most_bytes) {}

    bool visit(StateNumber n, Word const* state, Accesses accesses) {
        for (std::uint32_t p = 0; p < accesses.size(); ++p) {
            if (!is_store(accesses[p])) continue;
            auto const y = accesses[p]->cell;
            starts_.find(state, p, *accesses[p],
                         [&](std::uint32_t x) { attacks_.add({state, machine_.words()}, {{p, y, x}, n}); });
        }
        return false;
    }
    bool has_work() const { return attacks_.has_work(); }
    bool work() { return attacks_.work(); }
    std::uint64_t states() const { return attacks_.states(); }
    std::size_t bytes() const { return attacks_.bytes(); }

    StateNumber start() const { return attacks_.start().from; }
    // The violation from `state` on, in which the attack started.
    TsoViolation violation(std::vector<Word> const& state) const {
        auto const& start = attacks_.start();
        SoloRun<NoMonitor> solo(program_, machine_, true, true);
        TsoViolation violation{{}, {}, attacks_.others(state), {}};
        auto const reached = [&](std::uint32_t stop, Access const& read, Value value) {
            if (read.cell != start.x) return false;
            violation.alone = solo.events_to(stop);
            violation.alone.push_back({start.attacker, read.pc, EventKind::read, read.cell, value, 0});
            violation.path = solo.stop(stop).path.elements();
            return true;
        };
        solo.run(state.data(), start.attacker, *machine_.next_access(state.data(), start.attacker), reached,
                 [](FencePlaces const&) { return false; });
        return violation;
    }

  private:
    Program const& program_;
    PlainMachine const& machine_;
    AttackStarts starts_;
    Attacks attacks_;
};

// For one pivot with partial-order reduction.
TsoResult explore_patterns(Program const& program, TsoQuestion const& question, Limits const& limits,
                           Watcher const& watcher) {
    std::optional<PersistentSets> reduction;
    if (question.pivot != none && !question.all) reduction.emplace(program, question.pivot);
    SearchOptions options;
    options.limits = limits;
    options.may_compress = true;
    Explorer<NoMonitor, ThriftyStore, PatternVisitor> explorer(program, options, std::move(reduction),
                                                               watcher, question);
    TsoResult result{explorer.run(), {}};
    for (auto& found : explorer.visitor().found()) {
        result.violations.push_back(
            {explorer.run_to(found.state), std::move(found.alone), {found.others}, found.path.elements()});
    }
    return result;
}

TsoResult explore_attacks(Program const& program, Limits const& limits, Watcher const& watcher) {
    SearchOptions options;
    options.limits = limits;
    options.may_compress = true;
    Explorer<NoMonitor, ThriftyStore, AttackVisitor> explorer(program, options, std::nullopt, watcher,
                                                              limits.bytes);
    TsoResult result{explorer.run(), {}};
    if (result.search.outcome == Outcome::violation) {
        auto const from = explorer.visitor().start();
        auto violation = explorer.visitor().violation(explorer.state(from));
        violation.run = explorer.run_to(from);
        result.violations.push_back(std::move(violation));
    }
    return result;
}

}  // namespace

TsoResult explore_tso(Program const& program, TsoQuestion const& question, Limits const& limits,
                      Watcher const& watcher) {
    if (question.criterion == Criterion::robust) return explore_attacks(program, limits, watcher);
    return explore_patterns(program, question, limits, watcher);
}

}  // namespace fencepost
