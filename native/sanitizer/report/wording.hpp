// The words for accesses and orders.
#pragma once

#include "sanitizer/core/orders.hpp"
#include "sanitizer/core/sites.hpp"

namespace fencepost {

// In JSON.
constexpr char const* name_of(Access access) {
    constexpr char const* names[] = {"load", "store", "rmw", "cas", "wait", "fence", "synchronisation"};
    return names[static_cast<int>(access)];
}
constexpr char const* name_of(Order order) {
    constexpr char const* names[] = {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
    return names[static_cast<int>(order)];
}
constexpr char const* name_of(SiteKind kind) {
    constexpr char const* names[] = {"load", "store", "exchange", "fetch", "compare_exchange", "fence"};
    return names[static_cast<int>(kind)];
}

// After why an access is not robust. The same as HARMLESS in answer/explain.py.
inline constexpr char const* can_be_harmless =
    "Harmless? It can be: see \"Is a finding harmful?\" in docs/sanitizer.md for how to find out.";

// Where the chain is not remembered. The same as _NO_REPAIR in answer/explain.py.
inline constexpr char const* no_repair_known =
    "Repair: None was tried, because it is not known how the write comes before this access: that was too "
    "long "
    "ago, or it came by way of too many threads. Make the run again under a schedule (`fencepost run "
    "--schedule "
    "random`), or with `history=65536` in FENCEPOST_OPTIONS.";

// What a thread waits for in a deadlock, as the object of a sentence. The same as _AWAITED in
// answer/explain.py.
struct Awaited {
    char const *in_json, *words;
};
inline constexpr Awaited awaited[] = {
    {"mutex", "the mutex"},         {"read-write lock", "the read-write lock"},
    {"spin lock", "the spin lock"}, {"condition variable", "a signal of the condition variable"},
    {"semaphore", "the semaphore"}, {"barrier", "the other threads at the barrier"},
    {"once", "the initialisation"}, {"wait", "a value"},
};
inline constexpr char const* end_of_a_thread = "end of a thread";

// In sentences about an access itself.
constexpr char const* noun_for(Access access) {
    constexpr char const* nouns[] = {"load",  "store", "read-modify-write", "compare-and-exchange", "wait",
                                     "fence", "access"};
    return nouns[static_cast<int>(access)];
}

// In sentences about the accesses before it.
constexpr char const* word_for(Access access) {
    constexpr char const* words[] = {"read", "write", "read-modify-write", "compare-and-exchange",
                                     "wait", "fence", "synchronisation"};
    return words[static_cast<int>(access)];
}

}  // namespace fencepost
