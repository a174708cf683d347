// What a thread can do alone while a write of its own waits in its store buffer: run on through local
// instructions and reads, and if asked through further writes, up to the next instruction that drains the
// buffer. No other thread moves meanwhile, so its writes can be done in the memory of a copy of the state.
//
// A fence on the way would end it. With `paths`, runs are told apart by the places where such a fence could
// stand: right before instruction n (place 2n) or right after access n (place 2n + 1). Of two runs to the
// same state, one whose places include those of the other is dropped.
#pragma once

#include <vector>

#include "engine/program/control_flow.hpp"
#include "engine/search/explorer.hpp"

namespace fencepost {

// A set of places for a fence in one thread.
class FencePlaces {
  public:
    explicit FencePlaces(std::size_t size = 0) : words_((size + 63) / 64, 0) {}
    void add(std::size_t n) { words_[n / 64] |= Word{1} << (n % 64); }
    std::vector<std::uint32_t> elements() const {
        std::vector<std::uint32_t> found;
        for (std::uint32_t n = 0; n < words_.size() * 64; ++n) {
            if ((words_[n / 64] >> (n % 64) & 1) != 0) found.push_back(n);
        }
        return found;
    }
    bool within(FencePlaces const& other) const {
        for (std::size_t i = 0; i < words_.size(); ++i) {
            if ((words_[i] & ~other.words_[i]) != 0) return false;
        }
        return true;
    }

  private:
    std::vector<Word> words_;
};

template <class Monitor>
class SoloRun {
  public:
    // Where the thread stops: at an access or a choice, with the events and instructions up to there.
    struct Stop {
        std::uint32_t pc;
        std::uint32_t before;        // the stop before, or `none`
        std::optional<Event> event;  // what led from there to here
        FencePlaces path;            // since the first write
        CellSet buffered;            // cells that the thread has written
    };

    SoloRun(Program const& program, Machine<Monitor> const& machine, bool through_writes, bool paths)
        : program_(program),
          machine_(machine),
          through_writes_(through_writes),
          paths_(paths),
          states_(machine.words()) {}

    // Lets p do its next access, a store, in `state` and run on alone. Calls `read(stop, access, value)` at
    // every read that takes its value from memory, and ends when that returns true. If `superfluous(path)`,
    // the run is not followed further.
    template <class Read, class Superfluous>
    bool run(Word const* state, std::uint32_t p, Access const& store, Read read, Superfluous superfluous) {
        clear();
        thread_ = p;
        auto const& code = program_.threads[p].code;
        Stop first{store.pc, none, std::nullopt, FencePlaces(paths_ ? 2 * code.size() : 0), {}};
        states_.push(state);
        stops_.push_back(std::move(first));
        follow(0, store);
        for (std::uint32_t n = 1; n < stops_.size(); ++n) {
            if (paths_ && superfluous(stops_[n].path)) continue;
            auto const pc = stops_[n].pc;
            if (code[pc].op == Op::choose) {
                for (auto target : code[pc].many) run_on(n, target, std::nullopt);
                continue;
            }
            auto const access = *machine_.next_access(states_[n], p);
            bool const reads = access.instruction->op == Op::load || access.instruction->op == Op::wait;
            if (reads && machine_.enabled(states_[n], p, access) && !stops_[n].buffered[access.cell]) {
                if (read(n, access, machine_.cell(states_[n], access.cell))) return true;
            }
            if (reads || (through_writes_ && access.instruction->op == Op::store)) follow(n, access);
        }
        return false;
    }

    Stop const& stop(std::uint32_t n) const { return stops_[n]; }

    // The accesses on the way to a stop.
    std::vector<Event> events_to(std::uint32_t n) const {
        std::vector<Event> events;
        for (; n != none; n = stops_[n].before) {
            if (stops_[n].event) events.push_back(*stops_[n].event);
        }
        std::reverse(events.begin(), events.end());
        return events;
    }

  private:
    static constexpr std::size_t most_stops = std::size_t{1} << 22;

    void clear() {
        stops_.clear();
        states_.clear();
        std::fill(slots_.begin(), slots_.end(), 0u);
    }

    void follow(std::uint32_t n, Access const& access) {
        run_on(n, access.pc + 1, event_of(machine_, states_[n], thread_, access), &access);
    }

    // From stop n, after `access` if there is one, run local instructions from pc on to the next stop.
    void run_on(std::uint32_t n, std::uint32_t pc, std::optional<Event> event,
                Access const* access = nullptr) {
        auto const& code = program_.threads[thread_].code;
        now_.assign(states_[n], states_[n] + machine_.words());
        Stop next{pc, n, event, stops_[n].path, stops_[n].buffered};
        if (access != nullptr) {
            if (!machine_.perform(now_.data(), thread_, *access)) return;
            if (access->instruction->op == Op::store) next.buffered.set(access->cell);
            if (paths_) next.path.add(2 * access->pc + 1);
        }
        std::optional<Failure> ignored;
        std::uint32_t earlier_pc = none;  // to notice that it runs for ever, as in Machine::run_local
        for (std::uint64_t steps = 1;; ++steps) {
            if (pc == none || pc == code.size()) return;
            if (paths_) next.path.add(2 * pc);
            auto const& i = code[pc];
            if (i.op == Op::choose) break;
            if (i.is_access()) {
                if (!machine_.arrive(now_.data(), thread_, pc)) return;
                break;
            }
            if (i.op == Op::drain) return;
            pc = machine_.advance(now_.data(), thread_, pc, ignored);
            if (steps < 64) continue;
            if (pc == earlier_pc && same_words(earlier_.data(), now_.data(), now_.size())) return;
            if ((steps & (steps - 1)) == 0) {
                earlier_ = now_;
                earlier_pc = pc;
            }
        }
        next.pc = pc;
        add(std::move(next));
    }

    void add(Stop next) {
        if (stops_.size() > most_stops) throw EndlessLocalRun(thread_, next.pc, true);
        if (stops_.size() * 2 >= slots_.size()) grow();
        auto const mask = slots_.size() - 1;
        auto slot = hash_words(now_.data(), now_.size()) * 31 + next.pc;
        for (slot &= mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
            auto const other = slots_[slot] - 1;
            auto const& stop = stops_[other];
            if (stop.pc == next.pc && same_words(states_[other], now_.data(), now_.size()) &&
                stop.buffered == next.buffered && stop.path.within(next.path)) {
                return;
            }
        }
        states_.push(now_.data());
        stops_.push_back(std::move(next));
        slots_[slot] = static_cast<std::uint32_t>(stops_.size());
    }

    void grow() {
        slots_.assign(std::max<std::size_t>(slots_.size() * 2, 64), 0u);
        auto const mask = slots_.size() - 1;
        for (std::uint32_t n = 1; n < stops_.size(); ++n) {
            auto slot = (hash_words(states_[n], now_.size()) * 31 + stops_[n].pc) & mask;
            while (slots_[slot] != 0) slot = (slot + 1) & mask;
            slots_[slot] = n + 1;
        }
    }

    Program const& program_;
    Machine<Monitor> const& machine_;
    bool through_writes_, paths_;
    std::uint32_t thread_ = 0;
    StateList states_;  // of the stops
    std::vector<Stop> stops_;
    std::vector<std::uint32_t> slots_;  // stop + 1 by hash, 0 where empty
    std::vector<Word> now_, earlier_;
};

}  // namespace fencepost
