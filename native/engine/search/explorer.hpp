// The search itself, for any monitor, any store, and any visitor of the states.
#pragma once

#include <chrono>
#include <span>
#include <type_traits>

#include "engine/search/expansion.hpp"
#include "engine/search/frontier.hpp"
#include "engine/search/options.hpp"
#include "engine/search/replay.hpp"
#include "engine/state/store_thrifty.hpp"

namespace fencepost {

// Ends a search at its limits, and reports its progress to the watcher.
class Overseer {
  public:
    Overseer(Limits const& limits, Watcher const& watcher) : limits_(limits), watcher_(watcher) {}

    // Why the search has to end now, if it has to. `now.seconds` need not be set.
    std::optional<Outcome> look(Progress now) {
        if (now.states >= limits_.states) return Outcome::state_limit;
        now.seconds = seconds();
        if (now.bytes > limits_.bytes) return Outcome::memory_limit;
        if (now.seconds >= limits_.seconds) return Outcome::time_limit;
        if (now.seconds < next_report_) return std::nullopt;
        next_report_ = now.seconds + seconds_between_reports;
        if (watcher_ && watcher_(now)) return Outcome::interrupted;
        return std::nullopt;
    }
    // The same for frequent calls: checks the number of states each time, and the rest now and then.
    template <class Count>
    std::optional<Outcome> glance(std::uint64_t states, Count progress) {
        if (states >= limits_.states) return Outcome::state_limit;
        return ++glances_ % glances_between_looks == 0 ? look(progress()) : std::nullopt;
    }
    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::uint64_t glances_between_looks = 64;
    static constexpr double seconds_between_reports = 0.1;

    Limits const& limits_;
    Watcher const& watcher_;
    Clock::time_point start_ = Clock::now();
    std::uint64_t glances_ = 0;
    double next_report_ = seconds_between_reports;
};

// A visitor looks at each state for a question that the monitor does not answer. It may have states of its
// own to work on. This one does nothing.
struct NoVisitor {
    template <class Monitor>
    NoVisitor(Program const&, Machine<Monitor> const&) {}
    // True ends the search.
    bool visit(StateNumber, Word const*, Accesses) { return false; }
    bool has_work() const { return false; }
    bool work() { return false; }
    std::uint64_t states() const { return 0; }
    std::size_t bytes() const { return 0; }
};

// Runs a search, and records how it ended.
template <class Search>
void run_search(Result& result, Search search) {
    try {
        result.outcome = search();
    } catch (std::bad_alloc const&) {
        result.outcome = Outcome::memory_limit;
    } catch (EndlessLocalRun const& endless) {
        result.outcome = Outcome::endless_local_run;
        result.endless_thread = endless.thread;
        result.endless_pc = endless.pc;
        result.endless_choices = endless.choices;
    } catch (ValueOutOfRange const& value) {
        result.outcome = Outcome::value_limit;
        result.endless_thread = value.thread;
        result.endless_pc = value.pc;
    }
}

// Only a store that forgets states depends on the variation.
template <class Store>
Store make_store(std::size_t words, std::size_t key_words, std::size_t bytes, SearchOptions const& options) {
    if constexpr (std::is_constructible_v<Store, std::size_t, std::size_t, std::size_t, Variation const&>) {
        return Store(words, key_words, bytes, options.variation);
    } else if constexpr (std::is_same_v<Store, ThriftyStore>) {
        return Store(words, key_words, bytes, options.may_compress);
    } else {
        return Store(words, key_words, bytes);
    }
}

// The memory of a store, now and at most.
template <class Store>
std::size_t bytes_of(Store const& store) {
    if constexpr (std::is_same_v<Store, ThriftyStore>) {
        return store.bytes();
    } else {
        return store.memory().used();
    }
}
template <class Store>
std::size_t peak_bytes_of(Store const& store) {
    if constexpr (std::is_same_v<Store, ThriftyStore>) {
        return store.peak_bytes();
    } else {
        return store.memory().used();
    }
}

// What a result says about the store.
template <class Store>
void describe_store(Store const& store, Result& result) {
    if constexpr (requires { store.bits_used(); }) result.bits_used = store.bits_used();
    if constexpr (requires { store.compressed_after(); }) result.compressed_after = store.compressed_after();
}

template <class Monitor, class Store, class Visitor = NoVisitor>
class Explorer {
  public:
    template <class... ForVisitor>
    Explorer(Program const& program, SearchOptions const& options, std::optional<PersistentSets> reduction,
             Watcher const& watcher, ForVisitor const&... for_visitor)
        : program_(program),
          machine_(program),
          symmetry_(machine_),
          overseer_(options.limits, watcher),
          frontier_(options.order, options.variation),
          store_(make_store<Store>(machine_.words(), machine_.key_words(), options.limits.bytes, options)),
          expansion_(machine_, symmetry_, std::move(reduction)),
          visitor_(program, machine_, for_visitor...) {}

    Visitor& visitor() { return visitor_; }
    std::vector<Word> state(StateNumber n) const {
        std::vector<Word> loaded(machine_.words());
        store_.load(n, loaded.data());
        return loaded;
    }

    Result run() {
        result_.state_bytes = machine_.words() * sizeof(Word);
        run_search(result_, [&] { return search(); });
        result_.states = states();
        result_.peak_bytes = std::max(bytes(), peak_bytes_of(store_));
        result_.seconds = overseer_.seconds();
        describe_store(store_, result_);
        describe(expansion_.findings(), machine_, symmetry_, origins(), result_);
        return std::move(result_);
    }

    std::vector<Event> run_to(StateNumber n) const { return Replay(machine_, symmetry_, n, origins()).run(); }

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
    static constexpr bool knows_likely_states =
        requires(Store const& store, Word const* state) { store.is_state(store.prefetch_state(0), state); };

    Origins origins() const {
        return {[this](StateNumber n) { return store_.origin(n); }};
    }

    Outcome search() {
        expansion_.start();
        store_successors();
        while (frontier_.size() > 0 || visitor_.has_work()) {
            if (auto const stop = overseer_.glance(states(), [&] { return progress(); })) return *stop;
            if (visitor_.has_work()) {
                if (visitor_.work()) return Outcome::violation;
                continue;
            }
            do {
                if (expand(frontier_.take())) return Outcome::violation;
            } while (expansion_.successors().size() < frontier_.batch() && frontier_.size() > 0);
            store_successors();
        }
        return Outcome::complete;
    }

    // Checks and steps a state, unless another one covers it; true ends the search.
    bool expand(StateNumber n) {
        if (!store_.load(n, expansion_.state())) return false;
        if (expansion_.check(n)) return true;
        if (visitor_.visit(n, expansion_.state(), expansion_.accesses())) return true;
        return frontier_.may_go_deeper() && expansion_.step(n);
    }

    // In several passes, so that the cache lines of the table, and then those of a state that is probably the
    // same, arrive meanwhile. Most successors are known, and most of these are that state.
    void store_successors() {
        auto& successors = expansion_.successors();
        auto const count = successors.size();
        hashes_.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            hashes_[i] = store_.hash(successors[i]);
            store_.prefetch_slot(hashes_[i]);
        }
        if constexpr (knows_likely_states) {
            likely_.resize(count);
            for (std::size_t i = 0; i < count; ++i) likely_[i] = store_.prefetch_state(hashes_[i]);
        } else {
            for (std::size_t i = 0; i < count; ++i) store_.prefetch_state(hashes_[i]);
        }
        if constexpr (requires { store_.prefetch_members(hashes_[0]); }) {
            for (std::size_t i = 0; i < count; ++i) store_.prefetch_members(hashes_[i]);
        }
        for (std::size_t i = 0; i < count; ++i) {
            if constexpr (knows_likely_states) {
                if (likely_[i] != no_state && store_.is_state(likely_[i], successors[i])) continue;
            }
            auto const number = static_cast<StateNumber>(store_.size());
            if (!store_.insert(successors[i], hashes_[i], expansion_.origins()[i])) continue;
            frontier_.add(number, store_.elements(successors[i]));
        }
        result_.transitions += count;
        expansion_.clear_successors();
    }

    std::size_t bytes() const { return bytes_of(store_) + frontier_.bytes() + visitor_.bytes(); }
    Progress progress() const { return {states(), result_.transitions, frontier_.size(), bytes(), 0}; }
    std::uint64_t states() const { return store_.size() + visitor_.states(); }

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
    Symmetry<Monitor> symmetry_;
    Overseer overseer_;
    Frontier frontier_;
    Store store_;
    Expansion<Monitor> expansion_;
    std::vector<std::uint64_t> hashes_;
    std::vector<StateNumber> likely_;
    Visitor visitor_;
    Result result_;
};

}  // namespace fencepost
