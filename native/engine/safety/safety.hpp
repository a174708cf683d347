// Safety: can a bad state be reached? What bad states are, and what a run to one looks like, for all searches
// that answer this over the graphs of the threads (coverability.hpp, sra_forward.hpp, sc_search.hpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <new>
#include <optional>
#include <vector>

#include "engine/safety/thread_graph.hpp"
#include "engine/search/options.hpp"
#include "engine/state/store.hpp"

namespace fencepost {

// Bad states: thread t stands at one of `nodes[t]`, or at any if there are none. With `memory`, these cells
// end with these values. With `race`, that thread is about to write that cell although it can still read a
// write that has been overwritten.
struct BadStates {
    struct CellValue {
        std::uint32_t cell;
        Value value;
    };
    struct WriteRace {
        std::uint32_t thread, cell;
    };
    std::vector<std::vector<std::uint32_t>> nodes;
    std::vector<CellValue> memory;
    std::optional<WriteRace> race;
};

// A step of a run to a bad state, forwards. A read takes its value from a write of `writer` (the number of
// threads: the initial memory).
struct RunStep {
    std::uint32_t thread, pc;
    Label label;
    std::uint32_t to;  // node
    std::uint32_t writer;
};

struct ForwardStats {
    std::uint64_t states = 0;
    std::uint64_t transitions = 0;
    std::uint64_t waiting = 0;
    std::size_t bytes = 0;
    bool truncated = false;  // some states were left out, so that an exhausted search proves nothing
};

// Lets a forward search go on until it has found a bad state, has nothing left, or meets a limit.
template <class Search>
Outcome go_on(Search& search, Limits const& limits, Watcher const& watcher) {
    auto const start = std::chrono::steady_clock::now();
    double told = 0;
    try {
        for (std::uint64_t n = 0; !search.found(); ++n) {
            if (!search.expand_next()) return Outcome::complete;
            auto const stats = search.stats();
            if (stats.states > limits.states) return Outcome::state_limit;
            if (n % 64 != 0) continue;
            if (stats.bytes > limits.bytes) return Outcome::memory_limit;
            std::chrono::duration<double> const passed = std::chrono::steady_clock::now() - start;
            auto const seconds = passed.count();
            if (seconds > limits.seconds) return Outcome::time_limit;
            if (seconds < told + 0.1) continue;
            told = seconds;
            if (watcher && watcher({stats.states, stats.transitions, stats.waiting, stats.bytes, seconds}))
                return Outcome::interrupted;
        }
    } catch (OutOfMemory const&) {
        return Outcome::memory_limit;
    } catch (std::bad_alloc const&) {
        return Outcome::memory_limit;
    }
    return Outcome::violation;
}

}  // namespace fencepost
