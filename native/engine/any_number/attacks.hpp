// Robustness against TSO for any number of threads.
//
// One thread, the attacker, is told apart (tso/tso.hpp has the rule). The first half of an attack is a search
// of views of the program. In their global states the attacker may delay a write and read past it. Each of
// their views is then one with which the second half starts: a search of views in which the attacker stands
// still and others only make steps that happen after its read. So if no view shows an attack, no number of
// threads has one.
#pragma once

#include "engine/any_number/any_number.hpp"

namespace fencepost {

// The attacker is `question.reader`, or else any thread that is there once. Only `violation` of the result
// counts.
AnyNumberResult explore_attacks(Program const& program, AnyNumberQuestion const& question,
                                Limits const& limits, Watcher const& watcher);

}  // namespace fencepost
