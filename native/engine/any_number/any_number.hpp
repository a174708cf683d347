// Programs in which threads stand for any number of copies of themselves.
//
// Nothing in a monitor names a thread but the thread's own part, and a step does the same to every thread
// that does not make it. So a state is a global one (memory, the parts of the monitor that belong to
// locations, the threads that are there once) and a multiset of local ones. A view is a global state with k
// of the local states (Abdulla, Haziza and Holík: All for the Price of Few, VMCAI 2013). Starting with views
// of k threads at their start, the search takes every k + 1 local states of which any k are in a view, makes
// their steps, and keeps the views of the result, until there are no new ones. A step is made by one thread,
// so k + 1 are enough for the result to hold the views of all states that can be reached, with any number
// of threads, and maybe more. If no view violates, no state does; a view that violates proves nothing.
//
// Monitors are searched one topic at a time (topics.hpp), so the local part of a monitor is a few bits.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/monitors/rules.hpp"
#include "engine/search/options.hpp"

namespace fencepost {

// A thread of which there is any number. The program has it twice: one makes steps, the other shows what
// these steps do to the rest.
struct ThreadTemplate {
    std::uint32_t actor, bystander;
};

// Where a thread stands: at the access there, or at its end.
struct Place {
    std::uint32_t thread, pc;
};

struct AnyNumberQuestion {
    std::vector<ThreadTemplate> templates;
    std::uint32_t k = 2;
    std::vector<Place> exclusive;  // of which no two threads may be at any; of templates the actor counts
    // A last read belongs to the thread that made it, so only reads of threads that are there once are
    // followed. If this is set, the search is for races with the reads of this thread, and nothing else.
    std::optional<std::uint32_t> reader;
};

// What some view shows. After a complete search, where a flag is false, no state shows it either.
struct AnyNumberResult {
    // States are views, transitions are k + 1 local states whose steps were made. A violation ends it.
    Result search;
    bool violation = false, race = false, failure = false;
    bool together = false;                  // at exclusive places
    std::uint64_t globals = 0, locals = 0;  // the most of all topics
};

AnyNumberResult explore_any_number(Program const& program, Model model, AnyNumberQuestion const& question,
                                   Limits const& limits, Watcher const& watcher);

}  // namespace fencepost
