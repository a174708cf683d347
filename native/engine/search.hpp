// The search itself, for any monitor, any store, and whoever wants to look at each state.
#pragma once

#include <chrono>
#include <span>

#include "engine/explorer.hpp"
#include "engine/store.hpp"

namespace holdfast {

inline constexpr std::size_t batch = 32;                  // successors hashed and prefetched together
inline constexpr std::uint64_t polls_between_looks = 64;  // at the clock
inline constexpr double seconds_between_reports = 0.1;

using Clock = std::chrono::steady_clock;

inline double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// Which states wait to be expanded. Breadth first they are simply those from a number on. Largest first takes
// a state whose monitor has most elements, since it makes most others superfluous.
class Frontier {
  public:
    explicit Frontier(Order order) : order_(order) {}

    void add(StateNumber n, std::size_t elements) {
        ++size_;
        if (order_ == Order::breadth_first) return;
        auto const stack = order_ == Order::largest_first ? elements : 0;
        if (stack >= stacks_.size()) stacks_.resize(stack + 1);
        stacks_[stack].push_back(n);
        top_ = std::max(top_, stack);
    }
    std::uint64_t size() const { return size_; }
    StateNumber take() {
        --size_;
        if (order_ == Order::breadth_first) return static_cast<StateNumber>(next_++);
        while (stacks_[top_].empty()) --top_;
        auto const n = stacks_[top_].back();
        stacks_[top_].pop_back();
        return n;
    }
    // The other orders need the successors of one state before the next one is chosen.
    bool by_batches() const { return order_ == Order::breadth_first; }
    std::size_t bytes() const {
        return order_ == Order::breadth_first ? 0 : static_cast<std::size_t>(size_) * sizeof(StateNumber);
    }

  private:
    Order order_;
    std::uint64_t size_ = 0;
    std::uint64_t next_ = 0;                        // breadth first
    std::vector<std::vector<StateNumber>> stacks_;  // else: one, or one for each number of elements
    std::size_t top_ = 0;
};

using Accesses = std::span<std::optional<Access> const>;

// Looks at states on behalf of a question that the monitor does not answer; has states of its own to work on.
struct NoVisitor {
    static constexpr bool reduces = false;  // may leave out threads: partial-order reduction
    template <class Monitor>
    NoVisitor(Program const&, Machine<Monitor> const&) {}
    // True ends the search.
    bool visit(StateNumber, Word const*, Accesses) { return false; }
    bool has_work() const { return false; }
    bool work() { return false; }
    std::uint64_t states() const { return 0; }
    std::size_t bytes() const { return 0; }
    std::size_t peak_bytes() const { return 0; }
};

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

template <class Monitor, class Store, class Visitor = NoVisitor>
class Explorer {
  public:
    template <class... ForVisitor>
    Explorer(Program const& program, Order order, Limits const& limits, Watcher const& watcher,
             ForVisitor const&... for_visitor)
        : program_(program),
          machine_(program),
          limits_(limits),
          watcher_(watcher),
          frontier_(order),
          store_(machine_.words(), machine_.key_words(), limits.bytes),
          current_(machine_.words()),
          successors_(machine_.words()),
          accesses_(program.threads.size()),
          visitor_(program, machine_, for_visitor...) {}

    Visitor& visitor() { return visitor_; }
    std::vector<Word> state(StateNumber n) const {
        std::vector<Word> loaded(machine_.words());
        store_.load(n, loaded.data());
        return loaded;
    }

    Result run() {
        result_.state_bytes = machine_.words() * sizeof(Word);
        try {
            result_.outcome = search();
        } catch (OutOfMemory const&) {
            result_.outcome = Outcome::memory_limit;
        } catch (std::bad_alloc const&) {
            result_.outcome = Outcome::memory_limit;
        } catch (EndlessLocalRun const& endless) {
            result_.outcome = Outcome::endless_local_run;
            result_.endless_thread = endless.thread;
            result_.endless_pc = endless.pc;
            result_.endless_choices = endless.choices;
        } catch (ValueOutOfRange const& value) {
            result_.outcome = Outcome::value_limit;
            result_.endless_thread = value.thread;
            result_.endless_pc = value.pc;
        }
        result_.states = states();
        result_.peak_bytes = store_.memory().peak() + frontier_.bytes() + visitor_.peak_bytes();
        result_.seconds = since(start_);
        return std::move(result_);
    }

    // The events on the way to a state: its origins, followed forwards.
    std::vector<Event> run_to(StateNumber n) const {
        std::vector<Origin> path{store_.origin(n)};
        while (path.back().parent != no_state) path.push_back(store_.origin(path.back().parent));
        std::vector<Event> run;
        StateList now(machine_.words()), next(machine_.words());
        std::optional<Failure> ignored;
        std::vector<FenceTrace> traces;
        machine_.start(next, ignored);
        now.push(next[path.back().choice]);
        if constexpr (Monitor::has_modes) {
            for (std::uint32_t t = 0; t < program_.threads.size(); ++t) {
                add_fences(run, t, machine_.fences_before_first_access(now[0], t));
            }
        }
        path.pop_back();
        for (; !path.empty(); path.pop_back()) {
            auto const [parent, t, choice] = path.back();
            auto const access = *machine_.next_access(now[0], t);
            run.push_back(event_of(machine_, now[0], t, access));
            next.clear();
            traces.clear();
            machine_.step(now[0], t, access, next, ignored, &traces);
            if constexpr (Monitor::has_modes) add_fences(run, t, traces[choice]);
            now.clear();
            now.push(next[choice]);
        }
        return run;
    }

    std::vector<PlainState> plain_states() const {
        std::vector<PlainState> states;
        std::vector<Word> state(machine_.words());
        for (StateNumber n = 0; n < store_.size(); ++n) {
            store_.load(n, state.data());
            states.push_back(plain_state(state.data()));
        }
        return states;
    }

  private:
    Outcome search() {
        machine_.start(successors_, failure_);
        for (std::size_t i = 0; i < successors_.size(); ++i) add_origin(no_state, 0, i);
        note_failure(no_state, none);
        store_successors();
        while (frontier_.size() > 0 || visitor_.has_work()) {
            if (auto const stop = poll()) return *stop;
            if (visitor_.has_work()) {
                if (visitor_.work()) return Outcome::violation;
                continue;
            }
            do {
                if (expand(frontier_.take())) return Outcome::violation;
            } while (!Visitor::reduces && frontier_.by_batches() && successors_.size() < batch &&
                     frontier_.size() > 0);
            store_successors();
        }
        return Outcome::complete;
    }

    // Checks a state, unless it is superfluous, and steps all its threads; true if it violates robustness.
    bool expand(StateNumber n) {
        Word* const state = current_.data();
        if (!store_.load(n, state)) return false;
        for (std::uint32_t t = 0; t < accesses_.size(); ++t) accesses_[t] = machine_.next_access(state, t);
        for (std::uint32_t t = 0; t < accesses_.size(); ++t) {
            if (accesses_[t] && leaves_sc(state, t, *accesses_[t])) {
                note_violation(n, t);
                return true;
            }
        }
        if (program_.has_non_atomic && !result_.race) find_race(n);
        if (visitor_.visit(n, state, accesses_)) return true;
        if constexpr (Visitor::reduces) {
            auto const threads = visitor_.threads_to_step(state, accesses_);
            store_successors();  // of other states
            step_threads(n, threads);
            if (!store_successors()) step_threads(n, ~threads);
        } else {
            step_threads(n, ~std::uint64_t{0});
        }
        return false;
    }

    // Appends the successors by these threads.
    void step_threads(StateNumber n, std::uint64_t threads) {
        for (std::uint32_t t = 0; t < accesses_.size(); ++t) {
            if (!accesses_[t] || (threads >> t & 1) == 0) continue;
            auto const before = successors_.size();
            machine_.step(current_.data(), t, *accesses_[t], successors_, failure_);
            for (auto i = before; i < successors_.size(); ++i) add_origin(n, t, i - before);
            note_failure(n, t);
        }
    }

    void add_origin(StateNumber parent, std::uint32_t t, std::size_t choice) {
        origins_.push_back({parent, t & 0xff, static_cast<std::uint32_t>(choice) & 0xffffff});
    }

    // Whether there was a new one. Three passes, so that the table's cache lines, and then those of a state
    // that is probably the same, arrive while others are worked on.
    bool store_successors() {
        auto const count = successors_.size();
        auto const known = store_.size();
        hashes_.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            hashes_[i] = store_.hash(successors_[i]);
            store_.prefetch_slot(hashes_[i]);
        }
        for (std::size_t i = 0; i < count; ++i) store_.prefetch_state(hashes_[i]);
        for (std::size_t i = 0; i < count; ++i) {
            auto const number = static_cast<StateNumber>(store_.size());
            if (!store_.insert(successors_[i], hashes_[i], origins_[i])) continue;
            frontier_.add(number, store_.elements(successors_[i]));
        }
        result_.transitions += count;
        successors_.clear();
        origins_.clear();
        return store_.size() > known;
    }

    std::optional<Outcome> poll() {
        if (states() >= limits_.states) return Outcome::state_limit;
        if (++polls_ % polls_between_looks != 0) return std::nullopt;
        auto const used = store_.memory().used() + frontier_.bytes() + visitor_.bytes();
        if (used > limits_.bytes) return Outcome::memory_limit;
        double const now = since(start_);
        if (now >= limits_.seconds) return Outcome::time_limit;
        if (now < next_report_) return std::nullopt;
        next_report_ = now + seconds_between_reports;
        Progress const progress{states(), result_.transitions, frontier_.size(), used, now};
        if (watcher_ && watcher_(progress)) return Outcome::interrupted;
        return std::nullopt;
    }

    // rocker-2019, Theorem 5.3, for every label that the program, not only the memory, enables.
    bool leaves_sc(Word const* state, std::uint32_t t, Access const& a) const {
        if constexpr (!Monitor::watches) {
            return false;
        } else {
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

    void note_violation(StateNumber n, std::uint32_t t) {
        auto const& a = *accesses_[t];
        Violation v{run_to(n), t, a.pc, a.cell, a.first, a.second, {}};
        auto const collect = [&v](Value awaited) {
            v.awaited.push_back(awaited);
            return false;
        };
        if (a.instruction->op == Op::wait) machine_.any_awaited(current_.data(), t, *a.instruction, collect);
        result_.violation = std::move(v);
    }

    void find_race(StateNumber n) {
        if constexpr (Monitor::has_modes) {
            find_unordered_access(n);
        } else {
            find_conflict(n);
        }
    }

    // An access that is not ordered after all earlier ones it conflicts with.
    void find_unordered_access(StateNumber n) {
        Word const* const state = current_.data();
        auto const& monitor = machine_.monitor();
        for (std::uint32_t t = 0; t < accesses_.size(); ++t) {
            auto const& a = accesses_[t];
            if (!a || !a->instruction->non_atomic) continue;
            bool const writes = a->instruction->op == Op::store;
            auto const earlier = monitor.views().unknown(state, monitor.current(t), a->cell, writes);
            if (!earlier) continue;
            result_.race = Race{run_to(n), Race::Earlier{earlier->write, earlier->thread}};
            result_.race->run.push_back(event_of(machine_, state, t, *a));
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
                result_.race = Race{run_to(n), std::nullopt};
                result_.race->run.push_back(event_of(machine_, current_.data(), t, *a));
                result_.race->run.push_back(event_of(machine_, current_.data(), u, *b));
                return;
            }
        }
    }

    void note_failure(StateNumber parent, std::uint32_t t) {
        if (!failure_ || result_.failure) return;
        FailedRun failed{{}, *failure_};
        if (parent != no_state) {
            failed.run = run_to(parent);
            failed.run.push_back(event_of(machine_, current_.data(), t, *accesses_[t]));
        }
        result_.failure = std::move(failed);
    }

    std::uint64_t states() const { return store_.size() + visitor_.states(); }

    static void add_fences(std::vector<Event>& run, std::uint32_t t, FenceTrace const& fences) {
        for (auto pc : fences) run.push_back({t, pc, EventKind::fence, none, 0, 0});
    }

    PlainState plain_state(Word const* state) const {
        PlainState plain;
        for (std::uint32_t t = 0; t < program_.threads.size(); ++t) {
            auto const& thread = program_.threads[t];
            auto const point = machine_.point(state, t);
            bool const at_access = point < thread.accesses.size();
            plain.push_back(at_access ? thread.accesses[point] : thread.code.size() + point - thread.ended());
            for (auto v : machine_.registers(state, t)) plain.push_back(v);
        }
        for (std::uint32_t x = 0; x < program_.fence_cell(); ++x) plain.push_back(machine_.cell(state, x));
        return plain;
    }

    Program const& program_;
    Machine<Monitor> machine_;
    Limits const& limits_;
    Watcher const& watcher_;
    Frontier frontier_;
    Store store_;
    std::vector<Word> current_;  // the state being expanded
    StateList successors_;
    std::vector<Origin> origins_;                  // of the successors
    std::vector<std::optional<Access>> accesses_;  // of the threads, in the state being expanded
    std::vector<std::uint64_t> hashes_;
    std::optional<Failure> failure_;
    std::uint64_t polls_ = 0;
    Clock::time_point start_ = Clock::now();
    double next_report_ = seconds_between_reports;
    Visitor visitor_;
    Result result_;
};

}  // namespace holdfast
