// The search by several workers who keep all states in one table (shared_states.hpp), breadth first or depth
// first, for stores that tell states apart bit by bit.
//
// A worker who finds a new state lets it wait in a list of its own, as a number. While somebody is idle,
// those who have many give some away through a bag (bag.hpp). So no state is copied from one worker to
// another. What holds for the search by one worker holds here: every state that is reached is stored once, by
// the worker who is first, and expanded once. Which run is found first depends on luck.
//
// When half of the memory is used, all stop, and their states are compressed, if that is allowed: each is put
// into the store of the worker that owns it from now on, and the search goes on as in parallel.hpp. If they
// do not fit there, they stay where they are.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>

#include "engine/search/bag.hpp"
#include "engine/search/explorer.hpp"
#include "engine/search/meeting.hpp"
#include "engine/search/parallel.hpp"
#include "engine/search/patience.hpp"
#include "engine/search/team.hpp"
#include "engine/search/workers.hpp"
#include "engine/state/shared_states.hpp"
#include "engine/state/store_compressed.hpp"

namespace fencepost {

template <class Monitor>
class SharedExplorer {
  public:
    SharedExplorer(Program const& program, SearchOptions const& options, Watcher const& watcher,
                   SharedStates::Sizes sizes = {})
        : program_(program),
          options_(options),
          machine_(program),
          symmetry_(machine_),
          overseer_(options.limits, watcher),
          may_compress_(options.may_compress),
          bag_(options.threads),
          meeting_(options.threads) {
        states_.emplace(machine_.words(), options.limits.bytes, sizes);
        std::optional<PersistentSets> reduction;
        if (options.partial_order) reduction.emplace(program);
        for (std::uint32_t n = 0; n < options.threads; ++n)
            workers_.push_back(std::make_unique<Worker>(*this, n, options, reduction));
    }

    Result run() {
        run_workers(workers_, end_);
        if (compresses_ && !end_.stop && !bag_.is_over()) {
            if (auto result = go_on_compressed()) return std::move(*result);
            if (!ended_) search_uncompressed();
        }
        auto [result, findings] = found();
        if (ended_) result.outcome = *ended_;
        result.peak_bytes += states_->memory().used();
        result.state_bytes = machine_.words() * sizeof(Word);
        result.seconds = overseer_.seconds();
        auto const origin_of = [&](StateNumber n) { return states_->origin(n); };
        describe(findings, machine_, symmetry_, {origin_of}, result);
        return result;
    }

  private:
    static constexpr std::size_t states_per_round = 32;  // before a worker looks what others want
    static constexpr std::size_t most_given = 512;       // states, at a time
    static constexpr StateNumber states_between_glances = 4096;

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
            search_as_worker(all_.end_, result_, [&] { return search(); });
            all_.meeting_.leave();
        }

        void add_to(Result& result, Findings& findings) {
            add_result(result, result_);
            add_findings(findings, expansion_.findings());
            result.states += stored_;
            result.peak_bytes += most_waiting_ * sizeof(StateNumber);
        }
        // The numbers that it has not given to states.
        SharedStates::Block const& block() const { return block_; }
        std::deque<StateNumber> const& waiting() const { return waiting_; }

        // May lag behind a little.
        void add_to(Progress& progress) const {
            progress.states += states_.load(std::memory_order_relaxed);
            progress.transitions += transitions_.load(std::memory_order_relaxed);
            progress.waiting += seen_waiting_.load(std::memory_order_relaxed);
        }

      private:
        Outcome search() {
            if (number_ == 0 && stored_ == 0) {
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
            for (patience_.begin_again(); !found && !all_.bag_.is_over();
                 found = all_.bag_.take_and_work(portion_)) {
                if (auto const end = look_around()) return end;
                if (!patience_.goes_on()) std::this_thread::sleep_for(pause_of_workers);
            }
            if (found) waiting_.assign(portion_.begin(), portion_.end());
            return std::nullopt;
        }

        std::optional<Outcome> look_around() {
            if (all_.end_.stop.load(std::memory_order_relaxed)) return Outcome::complete;
            if (all_.compresses_.load(std::memory_order_relaxed)) return Outcome::complete;
            if (all_.meeting_.is_called()) grow();
            return number_ == 0 ? all_.overseer_.look(all_.progress()) : std::nullopt;
        }

        StateNumber take() {
            auto const n = takes_first_ ? waiting_.front() : waiting_.back();
            takes_first_ ? waiting_.pop_front() : waiting_.pop_back();
            return n;
        }

        bool expand(StateNumber n) {
            all_.states_->load(n, expansion_.state());
            return expansion_.check(n) || expansion_.step(n);
        }

        // Several passes, as in Explorer::store_successors.
        void store_successors() {
            auto& states = *all_.states_;
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
            all_.states_->reserve(block_);
            while (!all_.states_->has_room()) {
                if (all_.end_.stop) return false;
                all_.meeting_.call();
                grow();
            }
            if (all_.may_compress_ && all_.states_->memory().used() > all_.options_.limits.bytes / 2)
                all_.compresses_ = true;
            return true;
        }

        void grow() {
            all_.meeting_.attend([&] { all_.states_->begin_growing(); });
            all_.states_->move_entries();
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
        Progress all{0, 0, 0, states_->memory().used(), 0};
        for (auto const& worker : workers_) worker->add_to(all);
        all.bytes += all.waiting * sizeof(StateNumber);
        return all;
    }
    std::pair<Result, Findings> found() const {
        std::pair<Result, Findings> all;
        for (auto const& worker : workers_) worker->add_to(all.first, all.second);
        return all;
    }

    void search_uncompressed() {
        may_compress_ = compresses_ = false;
        bag_.open_again();
        meeting_.open_again(workers_.size());
        run_workers(workers_, end_);
    }

    using Owners = ParallelExplorer<Monitor, CompressedStore>;

    // While no worker runs. Nothing if there is too little memory for it, or if the search comes to its end
    // meanwhile; then all is as it was.
    std::optional<Result> go_on_compressed() {
        auto [result, findings] = found();
        std::optional<Owners> owners;
        std::size_t peak = 0;
        try {
            auto const left = states_->memory().left();
            auto const bytes = std::size_t{states_->numbers()} * sizeof(StateNumber);
            if (bytes >= left) return std::nullopt;
            owners.emplace(program_, options_, overseer_, left - bytes);
            Pages const numbers(bytes);
            auto* const numbered = numbers.as<StateNumber>();
            renumber(*owners, numbered);
            if (!give_to(*owners, numbered)) return std::nullopt;
            owners->expand_first(waiting(numbered));
            move_findings(findings, numbered);
            peak = states_->memory().used() + bytes + owners->bytes();
        } catch (std::bad_alloc const&) {
            return std::nullopt;
        }
        result.compressed_after = std::exchange(result.states, 0);
        result.peak_bytes = 0;
        states_.reset();
        owners->allow(options_.limits.bytes);
        result = owners->go_on(std::move(result), findings);
        result.peak_bytes = std::max(result.peak_bytes, peak);
        return std::move(result);
    }

    // What numbers the states will have, or `no_state` where there is none: those at the ends of blocks.
    void renumber(Owners const& owners, StateNumber* numbered) const {
        for (auto const& worker : workers_) {
            auto const& [next, end] = worker->block();
            std::fill(numbered + next, numbered + end, no_state);
        }
        std::vector<StateNumber> next(owners.stride());
        std::iota(next.begin(), next.end(), 0);
        std::vector<Word> state(machine_.words());
        for (StateNumber n = 0; n < states_->numbers(); ++n) {
            if (numbered[n] == no_state) continue;
            states_->load(n, state.data());
            auto& number = next[owners.owner_of(state.data())];
            if (number >= no_state - owners.stride()) throw OutOfMemory("no more numbers");
            numbered[n] = std::exchange(number, number + owners.stride());
        }
    }

    // False if the search comes to its end meanwhile.
    bool give_to(Owners& owners, StateNumber const* numbered) {
        std::atomic<bool> ended = false;
        Team team(workers_.size());
        team.each(workers_.size(), [&](std::size_t owner, std::size_t helper) {
            std::vector<Word> state(machine_.words());
            for (StateNumber n = 0; n < states_->numbers() && !ended.load(std::memory_order_relaxed); ++n) {
                if (helper == 0 && n % states_between_glances == 0) {
                    ended_ = overseer_.look(progress());
                    if (ended_) ended = true;
                }
                if (numbered[n] == no_state || numbered[n] % owners.stride() != owner) continue;
                states_->load(n, state.data());
                auto origin = states_->origin(n);
                if (origin.parent != no_state) origin.parent = numbered[origin.parent];
                owners.give(static_cast<std::uint32_t>(owner), state.data(), origin);
            }
        });
        return !ended;
    }

    std::vector<StateNumber> waiting(StateNumber const* numbered) const {
        std::vector<StateNumber> all;
        for (auto const& worker : workers_) {
            for (auto const n : worker->waiting()) all.push_back(numbered[n]);
        }
        for (auto const& portion : bag_.portions()) {
            for (auto const n : portion) all.push_back(numbered[n]);
        }
        return all;
    }

    // The other kinds end a search.
    static void move_findings(Findings& findings, StateNumber const* numbered) {
        auto const move = [&](StateNumber& n) {
            if (n != no_state) n = numbered[n];
        };
        if (findings.race) move(findings.race->at.state);
        if (findings.failure) move(findings.failure->state);
        if (findings.deadlock) move(*findings.deadlock);
    }

    Program const& program_;
    SearchOptions const& options_;
    Machine<Monitor> machine_;
    Symmetry<Monitor> symmetry_;
    Overseer overseer_;
    std::optional<SharedStates> states_;
    bool may_compress_;
    std::atomic<bool> compresses_ = false;
    std::optional<Outcome> ended_;  // while states were given to owners
    Bag bag_;
    Meeting meeting_;
    std::vector<std::unique_ptr<Worker>> workers_;
    EndOfSearch end_;
};

}  // namespace fencepost
