// Partial-order reduction by persistent sets: which threads need to be stepped in a state?
//
// A set of threads is persistent in a state if nothing that the other threads can ever do depends on the next
// accesses of the set. Two accesses depend on each other if both are to one cell and one of them writes. What
// a thread can ever do is over-approximated by its control flow. Stepping the threads of such a set alone
// keeps every run of the others possible, so what they can lead to is only put off; so that it is not put off
// for ever, a state all of whose successors are known is expanded in full (Explorer::expand).
//
// The check for persistence looks at what a thread p would do alone after its next write: its reads up to the
// next instruction that drains its buffer. Therefore that write counts as a read of all cells that p may read
// on the way. Say the check succeeds in a state that is reached from here by steps of threads outside the
// set, with p about to write y and q about to write x:
//   p and q outside      a step of the set changes nothing for them, and the check succeeds later
//   p in the set alone   q will write x, on which p's write depends: the set is not persistent
//   q in the set alone   p will read x, which depends on q's write: the set is not persistent
//   both in the set      the steps in between write nothing that p reads: the check succeeds here
#pragma once

#include "engine/alone.hpp"

namespace holdfast {

class PersistentSets {
  public:
    using Threads = std::uint64_t;  // a bit for each

    // For the check with this pivot.
    PersistentSets(Program const& program, std::uint32_t pivot);

    // A smallest persistent set that can be found and has an enabled thread; all threads if there is none.
    Threads choose(std::span<std::uint32_t const> points, Threads enabled) const;

  private:
    struct Cells {
        CellSet read, written;
        bool depends_on(Cells const& other) const {
            return ((read | written) & other.written).any() || (written & other.read).any();
        }
    };
    struct Point {
        Cells next;    // the access at which the thread stands
        Cells future;  // all that it can ever do, this access included
    };

    Threads closure(std::uint32_t first, std::span<std::uint32_t const> points) const;

    std::vector<std::vector<Point>> points_;  // per thread and point
    Threads all_;
};

}  // namespace holdfast
