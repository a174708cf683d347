// The search by several workers where every state belongs to one of them, by its hash: for stores that cannot
// be shared. With subsumption, all states with the same program state and memory have the same owner.
//
// A worker stores and expands its own states, and sends the others to their owners in parcels; nothing else
// is shared. So what holds for the search by one worker holds here: every state that is reached is stored by
// its owner, and expanded unless another one covers it. Which run is found first depends on luck.
//
// The search is over when no state waits anywhere. `open_` counts those that wait to be expanded and those on
// their way. A worker adds what it has made and takes away what it has used up in one go, before it sends
// anything, so 0 means that nothing is left.
//
// A search with a shared table (shared.hpp) goes on here when it needs its memory for compressed states. What
// it has stored is then put into the stores of the owners, and gets new numbers.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "engine/search/patience.hpp"
#include "engine/search/workers.hpp"

namespace fencepost {

// States on their way to a worker: the words of each, then its hash, then its origin. Its memory is used
// again.
class Parcel {
  public:
    static constexpr std::size_t most_states = 128;

    explicit Parcel(std::size_t words) : words_(words), data_(most_states * (words + 2)) {}

    std::size_t size() const { return size_; }
    bool is_full() const { return size_ == most_states; }
    Word const* state(std::size_t i) const { return &data_[i * (words_ + 2)]; }
    std::uint64_t hash(std::size_t i) const { return state(i)[words_]; }
    Origin origin(std::size_t i) const { return as_origin(state(i)[words_ + 1]); }

    void add(Word const* state, std::uint64_t hash, Origin origin) {
        Word* const to = &data_[size_++ * (words_ + 2)];
        copy_words(to, state, words_);
        to[words_] = hash;
        to[words_ + 1] = as_word(origin);
    }
    void clear() { size_ = 0; }

  private:
    std::size_t words_, size_ = 0;
    std::vector<Word> data_;
};

class Mailbox {
  public:
    void put(Parcel parcel) {
        std::lock_guard const hold(mutex_);
        parcels_.push_back(std::move(parcel));
        filled_.store(true, std::memory_order_release);
    }
    // Puts what has arrived into a list that is empty.
    void take(std::vector<Parcel>& parcels) {
        if (!filled_.load(std::memory_order_acquire)) return;
        std::lock_guard const hold(mutex_);
        filled_.store(false, std::memory_order_relaxed);
        std::swap(parcels_, parcels);
    }

  private:
    alignas(64) std::mutex mutex_;
    std::vector<Parcel> parcels_;
    std::atomic<bool> filled_ = false;
};

template <class Monitor, class Store>
class ParallelExplorer {
  public:
    // The memory is for all stores together; `program`, `options` and the watcher must live as long.
    ParallelExplorer(Program const& program, SearchOptions const& options, Overseer const& overseer,
                     std::size_t bytes)
        : machine_(program), symmetry_(machine_), overseer_(overseer) {
        std::optional<PersistentSets> reduction;
        if (options.partial_order) reduction.emplace(program);
        for (std::uint32_t n = 0; n < options.threads; ++n)
            workers_.push_back(std::make_unique<Worker>(*this, n, options, reduction, bytes));
    }
    ParallelExplorer(Program const& program, SearchOptions const& options, Watcher const& watcher)
        : ParallelExplorer(program, options, Overseer(options.limits, watcher), options.limits.bytes) {}

    Result run() {
        workers_[0]->begin();
        return go_on({}, {});
    }

    // Instead of `run`, to go on with the states of another search: first all of them are given to their
    // owners, each by one thread for each owner and in the order of their numbers. The first state that an
    // owner is given gets the number of this owner, and each other one a number larger by `stride`.
    std::uint32_t owner_of(Word const* state) const { return owner(workers_[0]->hash(state)); }
    StateNumber stride() const { return static_cast<StateNumber>(workers_.size()); }
    void give(std::uint32_t to, Word const* state, Origin origin) { workers_[to]->put(state, origin); }
    // Then those that still have to be expanded, by their new numbers.
    void expand_first(std::vector<StateNumber> const& waiting) {
        for (std::size_t n = 0; n < workers_.size(); ++n) {
            std::vector<StateNumber> own;
            for (auto const state : waiting) {
                if (state % workers_.size() == n)
                    own.push_back(static_cast<StateNumber>(state / workers_.size()));
            }
            workers_[n]->expand_first(std::move(own));
        }
        open_ = static_cast<std::int64_t>(waiting.size());
    }
    void allow(std::size_t bytes) {
        for (auto const& worker : workers_) worker->allow(bytes / workers_.size());
    }
    std::size_t bytes() const { return progress().bytes; }
    // Then goes on from what was found before.
    Result go_on(Result result, Findings findings) {
        workers_[0]->count(std::exchange(result.transitions, 0));
        run_workers(workers_, end_);
        for (auto const& worker : workers_) worker->add_to(result, findings);
        result.state_bytes = machine_.words() * sizeof(Word);
        result.seconds = overseer_.seconds();
        auto const origin_of = [&](StateNumber n) {
            return workers_[n % workers_.size()]->origin(static_cast<StateNumber>(n / workers_.size()));
        };
        describe(findings, machine_, symmetry_, {origin_of}, result);
        return result;
    }

  private:
    static constexpr std::size_t states_per_round = 32;  // before a worker looks into its mailbox

    class Worker {
      public:
        Worker(ParallelExplorer& all, std::uint32_t number, SearchOptions const& options,
               std::optional<PersistentSets> const& reduction, std::size_t bytes)
            : all_(all),
              number_(number),
              words_(all.machine_.words()),
              frontier_(options.order, options.variation),
              store_(make_store<Store>(words_, all.machine_.key_words(), bytes / options.threads, options)),
              expansion_(all.machine_, all.symmetry_, reduction),
              parcels_(options.threads, Parcel(words_)),
              patience_(options.threads) {}

        // Puts the first states on their way.
        void begin() {
            run_search(result_, [&] {
                expansion_.start();
                pass_on();
                account(0);
                return Outcome::complete;
            });
        }

        void run() {
            if (result_.outcome == Outcome::complete)
                search_as_worker(all_.end_, result_, [&] { return search(); });
            if (result_.outcome != Outcome::complete) all_.end_.stop = true;
        }

        void add_to(Result& result, Findings& findings) {
            add_result(result, result_);
            add_findings(findings, expansion_.findings());
            result.states += store_.size();
            result.peak_bytes += store_.memory().used() + frontier_.bytes();
            if constexpr (requires { store_.bits_used(); }) {
                auto const share = store_.bits_used() / static_cast<double>(all_.workers_.size());
                result.bits_used = result.bits_used.value_or(0) + share;
            }
        }

        void count(std::uint64_t transitions) { result_.transitions += transitions; }
        std::uint64_t hash(Word const* state) const { return store_.hash(state); }
        void put(Word const* state, Origin origin) { store_.insert(state, store_.hash(state), origin); }
        void expand_first(std::vector<StateNumber> waiting) {
            frontier_.begin_with(std::move(waiting), store_.size());
            account(0);
        }
        void allow(std::size_t bytes) {
            if constexpr (requires { store_.allow(bytes); }) store_.allow(bytes);
        }
        Origin origin(StateNumber n) const { return store_.origin(n); }
        void receive(Parcel parcel) { mailbox_.put(std::move(parcel)); }

        // May lag behind a little.
        void add_to(Progress& progress) const {
            progress.states += states_.load(std::memory_order_relaxed);
            progress.transitions += transitions_.load(std::memory_order_relaxed);
            progress.waiting += waiting_.load(std::memory_order_relaxed);
            progress.bytes += bytes_.load(std::memory_order_relaxed);
        }

      private:
        Outcome search() {
            while (!all_.end_.stop.load(std::memory_order_relaxed)) {
                std::int64_t used = 0;
                mailbox_.take(arrived_);
                for (auto& parcel : arrived_) {
                    used += static_cast<std::int64_t>(parcel.size());
                    store(parcel);
                    parcel.clear();
                    unused_.push_back(std::move(parcel));
                }
                arrived_.clear();
                for (std::size_t n = 0; n < states_per_round && frontier_.size() > 0; ++n) {
                    ++used;
                    if (expand(frontier_.take())) return Outcome::violation;
                    if (expansion_.successors().size() >= frontier_.batch()) pass_on();
                }
                pass_on();
                account(used);
                send();
                if (number_ == 0) {
                    if (auto const stop = all_.overseer_.look(all_.progress())) return *stop;
                }
                if (used > 0) {
                    patience_.begin_again();
                    continue;
                }
                if (all_.open_.load() == 0) break;
                if (!patience_.goes_on()) std::this_thread::sleep_for(pause_of_workers);
            }
            return Outcome::complete;
        }

        bool expand(StateNumber n) {
            if (!store_.load(n, expansion_.state())) return false;
            auto const everywhere = static_cast<StateNumber>(n * all_.workers_.size() + number_);
            return expansion_.check(everywhere) || expansion_.step(everywhere);
        }

        // Stores the successors that are the worker's own, and puts the others into parcels. Several passes,
        // as in Explorer::store_successors.
        void pass_on() {
            auto& successors = expansion_.successors();
            own_.clear();
            for (std::size_t i = 0; i < successors.size(); ++i) {
                auto const hash = store_.hash(successors[i]);
                auto const owner = all_.owner(hash);
                if (owner == number_) {
                    own_.emplace_back(i, hash);
                    store_.prefetch_slot(hash);
                    continue;
                }
                parcels_[owner].add(successors[i], hash, expansion_.origins()[i]);
                ++made_;
                if (!parcels_[owner].is_full()) continue;
                account(0);
                send(owner);
            }
            for (auto const& [i, hash] : own_) store_.prefetch_state(hash);
            for (auto const& [i, hash] : own_) store(successors[i], hash, expansion_.origins()[i]);
            result_.transitions += successors.size();
            expansion_.clear_successors();
        }

        void store(Parcel const& parcel) {
            for (std::size_t i = 0; i < parcel.size(); ++i) store_.prefetch_slot(parcel.hash(i));
            for (std::size_t i = 0; i < parcel.size(); ++i) store_.prefetch_state(parcel.hash(i));
            for (std::size_t i = 0; i < parcel.size(); ++i)
                store(parcel.state(i), parcel.hash(i), parcel.origin(i));
        }

        void store(Word const* state, std::uint64_t hash, Origin origin) {
            auto const number = static_cast<StateNumber>(store_.size());
            if (number >= no_state / all_.workers_.size()) throw OutOfMemory("no more numbers");
            if (!store_.insert(state, hash, origin)) return;
            frontier_.add(number, store_.elements(state));
            ++made_;
        }

        // `used` states have been taken from the frontier and the mailbox.
        void account(std::int64_t used) {
            if (made_ != used) all_.open_ += made_ - used;
            made_ = 0;
            states_.store(store_.size(), std::memory_order_relaxed);
            transitions_.store(result_.transitions, std::memory_order_relaxed);
            waiting_.store(frontier_.size(), std::memory_order_relaxed);
            bytes_.store(store_.memory().used() + frontier_.bytes(), std::memory_order_relaxed);
        }

        // Small parcels wait until there is nothing else to do.
        void send() {
            if (frontier_.size() > 0) return;
            for (std::size_t to = 0; to < parcels_.size(); ++to) {
                if (parcels_[to].size() > 0) send(to);
            }
        }
        void send(std::size_t to) {
            if (unused_.empty()) unused_.emplace_back(words_);
            all_.workers_[to]->receive(std::exchange(parcels_[to], std::move(unused_.back())));
            unused_.pop_back();
        }

        ParallelExplorer& all_;
        std::uint32_t number_;
        std::size_t words_;
        Frontier frontier_;
        Store store_;
        Expansion<Monitor> expansion_;
        Mailbox mailbox_;
        std::vector<Parcel> parcels_;                             // by owner
        std::vector<Parcel> arrived_, unused_;                    // the latter are empty
        std::vector<std::pair<std::size_t, std::uint64_t>> own_;  // successors, with their hashes
        Patience patience_;
        std::int64_t made_ = 0;  // states put into the frontier, or into parcels for others
        Result result_;
        std::atomic<std::uint64_t> states_ = 0, transitions_ = 0, waiting_ = 0;
        std::atomic<std::size_t> bytes_ = 0;
    };

    // The bits that do not decide the slot in a table.
    std::uint32_t owner(std::uint64_t hash) const {
        return static_cast<std::uint32_t>((hash & UINT32_MAX) * workers_.size() >> 32);
    }

    Progress progress() const {
        Progress all{0, 0, 0, 0, 0};
        for (auto const& worker : workers_) worker->add_to(all);
        return all;
    }

    Machine<Monitor> machine_;
    Symmetry<Monitor> symmetry_;
    Overseer overseer_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::atomic<std::int64_t> open_ = 0;
    EndOfSearch end_;
};

}  // namespace fencepost
