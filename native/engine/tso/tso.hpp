// Questions about TSO, answered by looking at the states of sequential consistency.
//
// persistent   persist-2015, Theorem 1, as design.md section 5 corrects it. At each state, for each thread p
//              whose next step is a write of y: let it do that and run on alone through reads; if it stands
//              at a read of x ≠ y with value v, and another thread's next step writes v' ≠ v to x (a plain
//              write or an enabled read-modify-write), the program is fragile.
// trf          the same for triangular races: v' may be equal to v.
// robust       Bouajjani, Derevenetc, Meyer 2013. At each state, for each thread p, the attacker, whose next
//              step is a write of y: that write and later ones wait in p's buffer while p runs on alone and
//              reads x from memory. Then the others go on without p, only with steps that happen after that
//              read (attack.hpp). If one of them reads or writes y, the program is not robust.
#pragma once

#include "engine/search/options.hpp"

namespace fencepost {

enum class Criterion : std::uint8_t { persistent, trf, robust };

// A run under TSO that sequential consistency does not have: `run`, then `alone`, then `others`. The first
// write of `alone`, and for `robust` all its writes, are still in the buffer when `others` happen.
struct TsoViolation {
    std::vector<Event> run, alone, others;
    std::vector<std::uint32_t> path;  // where a fence would end `alone` (tso/solo_run.hpp)
};

struct TsoResult {
    Result search;
    std::vector<TsoViolation> violations;
};

// With `all`, the search goes on to the end, and finds for each thread a violation for every minimal path
// from a write to a read that overtakes it. With a `pivot`, only writes and reads of that thread count. Both
// have no effect for `robust`.
struct TsoQuestion {
    Criterion criterion;
    bool all = false;
    std::uint32_t pivot = none;
};

TsoResult explore_tso(Program const& program, TsoQuestion const& question, Limits const& limits,
                      Watcher const& watcher);

}  // namespace fencepost
