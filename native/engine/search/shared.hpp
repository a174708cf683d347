// The search by several workers who keep all states in one table (shared_states.hpp), breadth first or depth
// first, for stores that tell states apart bit by bit.
//
// A worker who finds a new state lets it wait in a list of its own, as a number. While somebody is idle, those
// who have many give some away through a bag (bag.hpp). So no state is copied from one worker to another.
// What holds for the search by one worker holds here: every state that is reached is stored once, by the
// worker who is first, and expanded once. Which run is found first depends on luck.
#pragma once

#include <atomic>
#include <deque>
#include <exception>
#include <memory>
#include <thread>
#include <utility>

#include "engine/search/bag.hpp"
#include "engine/search/explorer.hpp"
#include "engine/search/meeting.hpp"
#include "engine/search/patience.hpp"
#include "engine/state/shared_states.hpp"

namespace fencepost {

template <class Monitor>
class SharedExplorer {
  public:
    SharedExplorer(Program const& program, SearchOptions const& options, Watcher const& watcher,
                   SharedStates::Sizes sizes = {})
        : machine_(program),
          symmetry_(machine_),
          overseer_(options.limits, watcher),
          states_(machine_.words(), options.limits.bytes, sizes),
          bag_(options.threads),
          meeting_(options.threads) {
        std::optional<PersistentSets> reduction;
        if (options.partial_order) reduction.emplace(program);
        for (std::uint32_t n = 0; n < options.threads; ++n)
            workers_.push_back(std::make_unique<Worker>(*this, n, options, reduction));
    }

    Result run() {
        {
            std::vector<std::jthread> threads;
            try {
                for (std::size_t n = 1; n < workers_.size(); ++n)
                    threads.emplace_back([worker = workers_[n].get()] { worker->run(); });
            } catch (...) {  // the others would wait for those that did not start
                stop_ = true;
                throw;
            }
            workers_[0]->run();
        }
        if (failed_) std::rethrow_exception(failed_);
        Result result;
        Findings findings;
        for (auto const& worker : workers_) worker->add_to(result, findings);
        result.peak_bytes += states_.memory().used();
        result.state_bytes = machine_.words() * sizeof(Word);
        result.seconds = overseer_.seconds();
        auto const origin_of = [&](StateNumber n) { return states_.origin(n); };
        describe(findings, machine_, symmetry_, {origin_of}, result);
        return result;
    }

  private:
    static constexpr std::size_t states_per_round = 32;    // before a worker looks what others want
    static constexpr std::size_t most_given = 512;         // states, at a time
    static constexpr std::chrono::microseconds pause{20};  // where there is nothing to do

    class Worker {
      public:
        Worker(SharedExplorer& all, std::uint32_t number, SearchOptions const& options,
               std::optional<PersistentSets> const& reduction)
            : all_(all),
              number_(number),
              takes_first_(options.order == Order::breadth_first),
              batch_(Frontier(options.order, options.variation).batch()),
              expansion_(all.machine_, all.symmetry_, reduction),
              patience_(options.threads) {}

        void run() {
            try {
                run_search(result_, [&] { return search(); });
                if (result_.outcome != Outcome::complete) all_.stop_ = true;
            } catch (...) {  // from the watcher, which only the first worker calls
                all_.failed_ = std::current_exception();
                all_.stop_ = true;
            }
            all_.meeting_.leave();
        }

        void add_to(Result& result, Findings& findings) {
            result.states += stored_;
            result.transitions += result_.transitions;
            result.peak_bytes += most_waiting_ * sizeof(StateNumber);
            if (result.outcome == Outcome::complete || result_.outcome == Outcome::violation) {
                result.outcome = result_.outcome;
                result.endless_thread = result_.endless_thread;
                result.endless_pc = result_.endless_pc;
                result.endless_choices = result_.endless_choices;
            }
            auto const& own = expansion_.findings();
            if (!findings.violation) findings.violation = own.violation;
            if (!findings.tainted_use) findings.tainted_use = own.tainted_use;
            if (!findings.race) findings.race = own.race;
            if (!findings.failure) findings.failure = own.failure;
            if (!findings.deadlock) findings.deadlock = own.deadlock;
        }

        // May lag behind a little.
        void add_to(Progress& progress) const {
            progress.states += states_.load(std::memory_order_relaxed);
            progress.transitions += transitions_.load(std::memory_order_relaxed);
            progress.waiting += seen_waiting_.load(std::memory_order_relaxed);
        }

      private:
        Outcome search() {
            if (number_ == 0) {
                expansion_.start();
                store_successors();
            }
            do {
                while (!waiting_.empty()) {
                    for (std::size_t n = 0; n < states_per_round && !waiting_.empty(); ++n) {
                        if (expand(take())) return Outcome::violation;
                        if (expansion_.successors().size() >= batch_) store_successors();
                    }
                    store_successors();
                    if (all_.bag_.is_wanted()) give();
                    account();
                    if (auto const end = look_around()) return *end;
                }
                account();
                if (auto const end = find_work()) return *end;
            } while (!waiting_.empty());
            return Outcome::complete;
        }

        // Waits for something in the bag; if nothing is left anywhere, the list stays empty.
        std::optional<Outcome> find_work() {
            bool found = all_.bag_.take_or_rest(portion_);
            for (patience_.begin_again(); !found && !all_.bag_.is_over(); found = all_.bag_.take_and_work(portion_)) {
                if (auto const end = look_around()) return end;
                if (!patience_.goes_on()) std::this_thread::sleep_for(pause);
            }
            if (found) waiting_.assign(portion_.begin(), portion_.end());
            return std::nullopt;
        }

        std::optional<Outcome> look_around() {
            if (all_.stop_.load(std::memory_order_relaxed)) return Outcome::complete;
            if (all_.meeting_.is_called()) grow();
            return number_ == 0 ? all_.overseer_.look(all_.progress()) : std::nullopt;
        }

        StateNumber take() {
            auto const n = takes_first_ ? waiting_.front() : waiting_.back();
            takes_first_ ? waiting_.pop_front() : waiting_.pop_back();
            return n;
        }

        bool expand(StateNumber n) {
            all_.states_.load(n, expansion_.state());
            return expansion_.check(n) || expansion_.step(n);
        }

        // Several passes, as in Explorer::store_successors.
        void store_successors() {
            auto& states = all_.states_;
            auto& successors = expansion_.successors();
            auto const count = successors.size();
            hashes_.resize(count);
            for (std::size_t i = 0; i < count; ++i) {
                hashes_[i] = states.hash(successors[i]);
                states.prefetch_slot(hashes_[i]);
            }
            for (std::size_t i = 0; i < count; ++i) states.prefetch_state(hashes_[i]);
            for (std::size_t i = 0; i < count; ++i) {
                if (block_.is_empty() && !make_room()) break;
                auto const n = states.insert(successors[i], hashes_[i], expansion_.origins()[i], block_);
                if (n == no_state) continue;
                ++stored_;
                waiting_.push_back(n);
            }
            result_.transitions += count;
            expansion_.clear_successors();
        }

        // False if the search ends meanwhile.
        [[gnu::noinline]] bool make_room() {
            all_.states_.reserve(block_);
            while (!all_.states_.has_room()) {
                if (all_.stop_) return false;
                all_.meeting_.call();
                grow();
            }
            return true;
        }

        void grow() {
            all_.meeting_.attend([&] { all_.states_.begin_growing(); });
            all_.states_.move_entries();
            all_.meeting_.attend([] {});
        }

        // Half of what waits, those that wait longest: what they lead to is mostly larger.
        [[gnu::noinline]] void give() {
            auto const count = static_cast<std::ptrdiff_t>(std::min(waiting_.size() / 2, most_given));
            if (count == 0) return;
            all_.bag_.put({waiting_.begin(), waiting_.begin() + count});
            waiting_.erase(waiting_.begin(), waiting_.begin() + count);
        }

        void account() {
            most_waiting_ = std::max(most_waiting_, waiting_.size());
            states_.store(stored_, std::memory_order_relaxed);
            transitions_.store(result_.transitions, std::memory_order_relaxed);
            seen_waiting_.store(waiting_.size(), std::memory_order_relaxed);
        }

        SharedExplorer& all_;
        std::uint32_t number_;
        bool takes_first_;  // of those that wait
        std::size_t batch_;
        Expansion<Monitor> expansion_;
        Patience patience_;
        std::deque<StateNumber> waiting_;
        Bag::Portion portion_;
        SharedStates::Block block_;
        std::vector<std::uint64_t> hashes_;
        std::uint64_t stored_ = 0;
        std::size_t most_waiting_ = 0;
        Result result_;
        alignas(64) std::atomic<std::uint64_t> states_ = 0;
        std::atomic<std::uint64_t> transitions_ = 0, seen_waiting_ = 0;
    };

    Progress progress() const {
        Progress all{0, 0, 0, states_.memory().used(), 0};
        for (auto const& worker : workers_) worker->add_to(all);
        all.bytes += all.waiting * sizeof(StateNumber);
        return all;
    }

    Machine<Monitor> machine_;
    Symmetry<Monitor> symmetry_;
    Overseer overseer_;
    SharedStates states_;
    Bag bag_;
    Meeting meeting_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::atomic<bool> stop_ = false;
    std::exception_ptr failed_;
};

}  // namespace fencepost
