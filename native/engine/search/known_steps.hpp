// Steps of threads, looked up rather than run.
//
// What a thread does next, and what becomes of it up to its following access, depends on nothing but its own
// part of the state (its access point, its registers, and the cells that its local accesses use), on the
// value that its access finds, and on whether that could be a stale one where this taints a register. All are
// few, while states are many. So each such step is run by the machine once, and what it changed is kept: bits
// of words that get other values, and an update of the monitor.
//
// Not kept are steps with choices, or endless ones, in which the thread may pass fences: there the machine
// tells outcomes apart by the monitor, and two that are one in this state may be different in another. And no
// more steps are kept when there are too many: a program that counts to a million does nothing twice.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "engine/machine/machine.hpp"
#include "engine/monitors/packed_monitor.hpp"
#include "engine/program/control_flow.hpp"
#include "engine/state/update.hpp"
#include "engine/state/word_map.hpp"

namespace fencepost {

// What the access of a thread leads to.
struct KnownStep {
    std::uint32_t first = 0;  // outcome
    std::uint16_t count = 0;
    bool is_known : 1 = false;
    bool is_kept : 1 = false;  // else the machine runs it each time
    bool fails : 1 = false;    // the program goes wrong in it
    bool uses_taint : 1 = false;
};

// A thread at an access, or at its end, with its registers.
struct Standing {
    std::optional<Access> access;
    ViolationMask violation;
    Field cell;                       // that it accesses
    std::vector<KnownStep> steps[2];  // by whether it taints, and by the value that the access finds there
    bool is_kept = false;
};

// Bits of a word that get other values.
struct Change {
    std::uint32_t word;
    Word keep, set;
};

struct StepOutcome {
    std::uint32_t first_change = 0, changes = 0;
    std::uint32_t first_operation = 0, operations : 31 = 0;
    std::uint32_t forwards : 1 = 0;  // the thread comes to a later access point, or to its end
};

template <class Monitor>
class KnownSteps {
  public:
    explicit KnownSteps(Machine<Monitor> const& machine) : machine_(machine), next_(machine.words()) {
        auto const& threads = machine.program().threads;
        for (std::uint32_t t = 0; t < threads.size(); ++t) threads_.emplace_back(machine.own_bits(t));
    }

    // Where t stands; valid until the next call for t.
    Standing& standing(Word const* state, std::uint32_t t) {
        auto& thread = threads_[t];
        if (thread.own.size() > most_words) return describe(state, t, thread.other);
        for (std::size_t i = 0; i < thread.own.size(); ++i)
            row_[i] = state[thread.own[i].word] & thread.own[i].bits;
        auto* const found = thread.standings.find(row_);
        return found != nullptr ? *found : add_standing(state, t);
    }

    // What the access of t, which is at `here`, leads to in this state.
    KnownStep const& step(Word const* state, std::uint32_t t, Standing& here) {
        auto const found = here.cell.get(state);
        auto& steps = here.steps[here.access->instruction->taints && here.violation.holds(state)];
        if (found < steps.size() && steps[found].is_known) return steps[found];
        return add_step(state, t, here, steps, found);
    }
    std::span<StepOutcome const> outcomes(KnownStep const& step) const {
        return {outcomes_.data() + step.first, step.count};
    }
    void apply(StepOutcome const& outcome, Word* state) const {
        for (auto const& c : std::span(changes_.data() + outcome.first_change, outcome.changes))
            state[c.word] = (state[c.word] & c.keep) | c.set;
        auto const* const first = operations_.data() + outcome.first_operation;
        for (auto const* o = first; o != first + outcome.operations; o += 2) {
            o[0].apply(state);
            o[1].apply(state);
        }
    }

  private:
    static constexpr std::size_t most_words = 8;  // of a thread's own part
    static constexpr std::size_t most_kept = std::size_t{1} << 17;
    static constexpr Value most_values = 256;

    struct OfThread {
        explicit OfThread(BitSelection const& bits)
            : own(bits.masks().begin(), bits.masks().end()), standings(own.size()) {}
        std::vector<WordMask> own;    // its part of the state
        WordMap<Standing> standings;  // by what is there
        Standing other;               // the last one that is not kept
    };

    Standing& add_standing(Word const* state, std::uint32_t t) {
        auto& thread = threads_[t];
        if (kept_ >= most_kept) return describe(state, t, thread.other);
        ++kept_;
        auto& added = describe(state, t, thread.standings.add(row_));
        added.is_kept = true;
        return added;
    }

    Standing& describe(Word const* state, std::uint32_t t, Standing& standing) const {
        standing.access = machine_.next_access(state, t);
        if (!standing.access) return standing;
        standing.violation = violation_mask(machine_, state, t, *standing.access);
        standing.cell = machine_.cell_field(standing.access->cell);
        return standing;
    }

    KnownStep const& add_step(Word const* state, std::uint32_t t, Standing const& here,
                              std::vector<KnownStep>& steps, Value found) {
        static constexpr KnownStep not_kept;
        if (!here.is_kept || found >= most_values || kept_ >= most_kept) return not_kept;
        auto const step = run(state, t, *here.access);
        if (found >= steps.size()) {
            kept_ += found + 1 - steps.size();
            steps.resize(found + 1);
        }
        return steps[found] = step;
    }

    KnownStep run(Word const* state, std::uint32_t t, Access const& access) {
        std::optional<Failure> failure;
        next_.clear();
        traces_.clear();
        machine_.step(state, t, access, next_, failure, &traces_);
        if (next_.size() > UINT16_MAX || (machine_.monitor().has_modes && !has_one_way(t, access.pc)))
            return {.is_known = true, .is_kept = false};
        KnownStep const step{.first = static_cast<std::uint32_t>(outcomes_.size()),
                             .count = static_cast<std::uint16_t>(next_.size()),
                             .is_known = true,
                             .is_kept = true,
                             .fails = failure.has_value(),
                             .uses_taint = failure && failure->is_tainted_use()};
        kept_ += next_.size();
        for (std::size_t n = 0; n < next_.size(); ++n) {
            auto& outcome = outcomes_.emplace_back();
            add_changes(outcome, state, next_[n], t, access);
            add_operations(outcome, state, t, access, traces_[n]);
            outcome.forwards = machine_.point(next_[n], t) > machine_.point(state, t) ? 1 : 0;
        }
        return step;
    }

    // Whether the traces show all fences that the thread, which was at pc, has passed, and nothing depends on
    // the monitor.
    bool has_one_way(std::uint32_t t, std::uint32_t pc) {
        auto const& thread = machine_.program().threads[t];
        if (std::ranges::none_of(thread.code, [](auto const& i) { return i.is_fence() && !i.is_access(); }))
            return true;
        if (may_choose_after(thread, pc)) return false;
        return next_.size() == 0 || machine_.point(next_[0], t) != thread.diverged();
    }

    void add_changes(StepOutcome& outcome, Word const* before, Word const* after, std::uint32_t t,
                     Access const& access) {
        BitSelection changed;
        for (auto const& m : threads_[t].own) changed.add(Field{~Word{0}, m.word, 0}, m.bits);
        auto const& cell = machine_.cell_field(access.cell);
        changed.add(cell, cell.mask);
        outcome.first_change = static_cast<std::uint32_t>(changes_.size());
        for (auto const& m : changed.masks()) {
            if (((before[m.word] ^ after[m.word]) & m.bits) == 0) continue;
            changes_.push_back({m.word, ~m.bits, after[m.word] & m.bits});
        }
        outcome.changes = static_cast<std::uint32_t>(changes_.size()) - outcome.first_change;
    }

    void add_operations(StepOutcome& outcome, Word const* state, std::uint32_t t, Access const& access,
                        Events const& passed) {
        Update update;
        bool const writes = machine_.written(state, access).has_value();
        machine_.inform(update, t, access, machine_.cell(state, access.cell), writes,
                        machine_.taints(state, t, access));
        for (auto const& event : passed) {
            if (event.kind != EventKind::fence) continue;
            machine_.monitor().apply(update,
                                     MonitorEvent::fence(t, machine_.program().threads[t].code[event.pc]));
        }
        // Many steps do the same to the monitor. Of even numbers there are fewer, and they are guessed
        // better.
        std::vector<WordOperation> operations(update.operations().begin(), update.operations().end());
        if (operations.size() % 2 != 0) operations.emplace_back();
        auto const [known, is_new] =
            operations_at_.try_emplace(operations, static_cast<std::uint32_t>(operations_.size()));
        if (is_new) operations_.insert(operations_.end(), operations.begin(), operations.end());
        outcome.first_operation = known->second;
        outcome.operations = static_cast<std::uint32_t>(operations.size()) & ~(std::uint32_t{1} << 31);
    }

    Machine<Monitor> const& machine_;
    std::vector<OfThread> threads_;
    std::size_t kept_ = 0;
    Word row_[most_words];
    std::vector<StepOutcome> outcomes_;
    std::vector<Change> changes_;
    std::vector<WordOperation> operations_;
    std::map<std::vector<WordOperation>, std::uint32_t> operations_at_;
    StateList next_;
    std::vector<Events> traces_;
};

}  // namespace fencepost
