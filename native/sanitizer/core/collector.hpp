// Keeps memory bounded however long a program runs: drops the steps that no clock can tell from later ones.
//
// Only the order of a slot's times matters, and of those only the ones that some clock holds. For each slot
// v: let m be what every thread knows of v as C (then also as SC, and whatever is joined to it changes
// nothing below m); all values up to m become 0, the others are numbered anew in their order. A step gets the
// number of the smallest value at which it is known. Steps at 0 are known to everybody; of the steps of one
// slot with the same number only the last one counts (history.hpp).
//
// Work is proportional to clocks and steps. Most locations drop by themselves what all threads know
// (history.hpp), and have room for the steps that are left. So this is only done when that room has grown by
// as much as the work, which is where some thread learns nothing for long; and when times grow large.
#pragma once

namespace fencepost {

// Not inside a hook.
void collect();

}  // namespace fencepost
