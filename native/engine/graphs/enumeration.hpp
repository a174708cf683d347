// All consistent execution graphs of a program, each once: how can it end under a memory model?
//
// Kokologiannakis, Marmanis, Gladstein, Vafeiadis: Truly Stateless, Optimal Dynamic Partial Order Reduction
// (POPL 2022).
//
//     Algorithm 1                here
//     Visit                      visit: the event that comes next, a read from each write in turn
//     VisitCOs                   place: a write at each place in mo in turn
//     revisits of a write        revisit: a read that came before the write can read from it; then all that
//                                was added since the read goes, but for what the write needs
//     IsMaximallyAdded           is_maximal: what goes must be what Visit adds first, so that no graph comes
//                                twice
//
// What we have besides: an RMW is a read and a write (execution_graph.hpp), and after the read the write
// comes next whatever other threads do. A choice of the program is an event; its first branch is maximal. A
// read of a value that its thread waits to change blocks the thread, and a thread that comes back to where it
// stood, with the same registers and without a write in between, is blocked too: without that round there is
// a graph that ends in the same way. So loops that only wait do not count as loops.
//
// No model needs to be known but for the questions in consistency.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "engine/graphs/consistency.hpp"
#include "engine/search/options.hpp"

namespace fencepost {

// What of a final state is looked at.
struct Observed {
    struct RegisterOf {
        std::uint32_t thread, reg;
    };
    std::vector<RegisterOf> registers;
    std::vector<std::uint32_t> cells;
};

struct EnumerationOptions {
    std::uint32_t unroll = 1;  // how often a thread may do one access
    bool find_races = true;    // and stop at the first
    bool stop_at_failure = false;
    bool all_leaves = false;  // tell also of graphs in which a thread cannot go on, or is not followed
    Limits limits;
};

// A graph as it is told: RMWs are one event, and choices are none.
struct ToldGraph {
    struct Told {
        std::uint32_t thread, pc;
        EventKind kind;
        std::uint32_t cell;
        Value read, written;
        std::int64_t source;  // the number of the write that is read, -1 for the initial one, -2 for none
    };
    std::vector<Told> events;                    // each after those before it in po ∪ rf
    std::vector<std::vector<std::uint32_t>> mo;  // per cell, numbers of writes
};

struct FoundEnd {
    std::vector<Value> values;  // registers, then cells, as in `Observed`
    std::uint64_t graphs = 0;   // that end so
    ToldGraph graph;            // the first of them
};

struct FoundRace {
    ToldGraph graph;
    std::uint32_t first, second;  // numbers of events
};

struct FoundFailure {
    ToldGraph graph;
    Failure failure;
};

struct Enumeration {
    Outcome outcome = Outcome::complete;
    bool truncated = false;     // some thread wanted to do an access once more, or a graph grew too large
    std::uint64_t steps = 0;    // events added
    std::uint64_t graphs = 0;   // in which all threads have ended
    std::uint64_t blocked = 0;  // in which some thread cannot go on
    double seconds = 0;
    std::vector<FoundEnd> ends;
    std::optional<FoundRace> race;
    std::optional<FoundFailure> failure;
    std::uint32_t endless_thread = 0, endless_pc = 0;  // as in `Result`
    bool endless_choices = false;
};

// Told of each new way to end, with `all_leaves` also of what holds where it goes no further; the enumeration
// stops with `violation` when it returns true.
using EndWatcher = std::function<bool(std::vector<Value> const&)>;

Enumeration enumerate_graphs(Program const& program, GraphModel model, Observed const& observed,
                             EnumerationOptions const& options, Watcher const& watcher,
                             EndWatcher const& on_end);

}  // namespace fencepost
