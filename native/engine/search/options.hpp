// What a search is given, and what comes of it. A search goes through all states of a program under
// sequential consistency, with a monitor that notices where a weaker memory model could leave it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/machine/machine.hpp"
#include "engine/state/store_bitstate.hpp"

namespace fencepost {

// `at_random` is depth first, with the successors of each state in random order.
enum class Order : std::uint8_t { breadth_first, depth_first, largest_first, by_location, at_random };

// Which states are kept: those with maximal monitors, all, all in less memory, or only a few bits of each.
enum class StoreKind : std::uint8_t { maximal, exact, compressed, bitstate };

struct Limits {
    std::uint64_t states = UINT64_MAX;
    double seconds = 1e300;
    std::size_t bytes = SIZE_MAX;
};

// Of the topics of a search by location only every `of`th group, from this number on. All parts together
// search what one search does.
struct Part {
    std::uint32_t number = 0, of = 1;
};

struct SearchOptions {
    Order order = Order::breadth_first;
    StoreKind store = StoreKind::maximal;
    bool partial_order = false;  // step a persistent set of threads where there is one
    bool merging = false;        // follow topics through one of all states with the same future
    bool lookahead = false;      // and only as long as somebody can ask about them, by the steps that follow
    std::uint32_t threads = 1;   // that search together; a search at random has one
    bool may_compress = false;   // a store of all states, when half of the memory is used
    Limits limits;
    Variation variation;
    Part part;
    std::string directory;  // if there is one, states are kept in files there (disk.hpp)
};

struct Progress {
    std::uint64_t states, transitions, waiting;
    std::size_t bytes;
    double seconds;
};

// Called about ten times a second; the search stops as interrupted when it returns true.
using Watcher = std::function<bool(Progress const&)>;

// The access of a thread that the model allows to leave sequential consistency after `run`.
struct Violation {
    std::vector<Event> run;
    std::uint32_t thread, pc, cell;
    Value first, second;         // its operands: value to write, or expected and desired value
    std::vector<Value> awaited;  // the values a `wait` waits for
};

// The last event races with the one before it or, if `earlier` is set, with the last write to the same cell
// or the last read of it by that thread.
struct Race {
    struct Earlier {
        bool write;
        std::uint32_t thread;  // of a read
    };
    std::vector<Event> run;
    std::optional<Earlier> earlier;
};

struct FailedRun {
    std::vector<Event> run;
    Failure failure;
};

// No thread can move after `run`: these wait, and all others have ended.
struct Deadlock {
    struct Waiting {
        std::uint32_t thread, pc, cell;
        Value held;  // by the cell
    };
    std::vector<Event> run;
    std::vector<Waiting> waiting;
};

enum class Outcome : std::uint8_t {
    complete,
    violation,
    state_limit,
    time_limit,
    memory_limit,
    interrupted,
    endless_local_run,
    value_limit,
    disk_failure,
    inexact,  // nothing is left to search, but states may have been missed
};

struct Result {
    Outcome outcome = Outcome::complete;
    std::uint64_t states = 0, transitions = 0;
    std::size_t state_bytes = 0, peak_bytes = 0;
    std::size_t disk_bytes = 0;  // the most in files
    double seconds = 0;
    std::optional<double> bits_used;                // the share of bits set, if states were forgotten
    std::optional<std::uint64_t> compressed_after;  // states, if the store was compressed meanwhile
    std::optional<Violation> violation;
    std::optional<FailedRun> tainted_use;  // the other kind of violation
    std::optional<Race> race;
    std::optional<FailedRun> failure;
    std::optional<Deadlock> deadlock;
    std::uint32_t endless_thread = 0, endless_pc = 0;  // for endless_local_run and value_limit: where
    bool endless_choices = false;
    std::string disk_failure;  // in words
};

// A state without its monitor, for tests: per thread the index of its next instruction (code size: ended,
// code size + 1: diverged) and its registers, then the cells.
using PlainState = std::vector<Value>;

}  // namespace fencepost
