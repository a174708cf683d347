// What all searches by several workers have in common: how workers are started, and how that what they have
// found becomes one result.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "engine/search/explorer.hpp"

namespace fencepost {

// How long a worker sleeps where there is nothing to do.
constexpr std::chrono::microseconds pause_of_workers{20};

// What workers tell each other about the end.
struct EndOfSearch {
    std::atomic<bool> stop = false;
    std::exception_ptr failed;
};

// Searches, as one of several workers; all stop when it has come to an end before the others. From the
// watcher, which only the first worker calls, there may be an exception.
template <class Search>
void search_as_worker(EndOfSearch& end, Result& result, Search search) {
    try {
        run_search(result, search);
        if (result.outcome != Outcome::complete) end.stop = true;
    } catch (...) {
        end.failed = std::current_exception();
        end.stop = true;
    }
}

// Runs the workers, the first of them here, and waits for all.
template <class Worker>
void run_workers(std::vector<std::unique_ptr<Worker>> const& workers, EndOfSearch& end) {
    {
        std::vector<std::jthread> threads;
        try {
            for (std::size_t n = 1; n < workers.size(); ++n)
                threads.emplace_back([worker = workers[n].get()] { worker->run(); });
        } catch (...) {  // the others would wait for those that did not start
            end.stop = true;
            throw;
        }
        workers[0]->run();
    }
    if (end.failed) std::rethrow_exception(end.failed);
}

// Adds what one worker has found to what the others have.
inline void add_result(Result& all, Result const& own) {
    all.transitions += own.transitions;
    if (all.outcome == Outcome::complete || own.outcome == Outcome::violation) {
        all.outcome = own.outcome;
        all.endless_thread = own.endless_thread;
        all.endless_pc = own.endless_pc;
        all.endless_choices = own.endless_choices;
    }
}
inline void add_findings(Findings& all, Findings const& own) {
    if (!all.violation) all.violation = own.violation;
    if (!all.tainted_use) all.tainted_use = own.tainted_use;
    if (!all.race) all.race = own.race;
    if (!all.failure) all.failure = own.failure;
    if (!all.deadlock) all.deadlock = own.deadlock;
}

}  // namespace fencepost
