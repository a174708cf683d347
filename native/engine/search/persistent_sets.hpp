// Partial-order reduction by persistent sets: which threads need to be stepped in a state?
//
// A set of threads is persistent in a state if nothing that the other threads can ever do depends on the next
// accesses of the set. Two accesses depend on each other if both are to one cell and one of them writes. What
// a thread can ever do is over-approximated by its control flow; what it does next is known: a CAS that
// fails, or an access that is blocked, only reads. Independent accesses commute with all that monitors keep,
// since these are functions of the execution graph (design.md, section 4.3).
//
// If only the threads of such a set are stepped, every run of the others stays possible; it is only put off.
// So that it is not put off for ever, all threads are stepped unless one of the set advances in its code: to
// a later access point, or to its end. This cannot go on for ever without a step of all threads. Nothing here
// depends on what is stored, or on the order of the search.
//
// Violations, races and failures must not get lost when steps are put off. Say one would be found in a state
// that is reached from here by steps of threads outside the set:
//   an access of t to x leaves SC   Others only destroy this, and by writing x alone. If t has not moved, it
//                                   is found here. If it has, the access is among what it can do, so the
//                                   set does not write x, and it is found later.
//   a race of two next accesses     They conflict. Both outside: found later. Both inside: found here. Else
//                                   the one outside depends on the one inside: the set is not persistent.
//   an access of t to d that is not ordered after an earlier one
//                                   Others never destroy this; they make it by an access that conflicts. If
//                                   t is outside, it is found later; if inside, nobody made it: found here.
//   a failing assertion, or the use of a tainted register
//                                   It is part of a step, which keeps its values and taints.
//   a deadlock                      The set has an enabled thread. Without a step of the set, nothing that
//                                   happens depends on its next access: it is still enabled then. So every
//                                   run to a deadlock has a step of the set; the first can as well be made
//                                   now. A thread of the set that waits only reads: who can end its waiting
//                                   writes that cell, and is in the set too.
//
// The check for persistence against TSO looks at what a thread p would do alone after its next write: its
// reads up to the next instruction that drains its buffer. Therefore that write counts as a read of all cells
// that p may read on the way. Say p is about to write y and q is about to write x:
//   p and q outside      a step of the set changes nothing for them, and the check succeeds later
//   p in the set alone   q will write x, on which p's write depends: the set is not persistent
//   q in the set alone   p will read x, which depends on q's write: the set is not persistent
//   both in the set      the steps in between write nothing that p reads: the check succeeds here
#pragma once

#include <optional>
#include <span>

#include "engine/machine/machine.hpp"
#include "engine/program/control_flow.hpp"

namespace fencepost {

class PersistentSets {
  public:
    using Threads = std::uint64_t;  // a bit for each

    // For checks of next accesses; with a pivot, for the check of what that thread does alone.
    explicit PersistentSets(Program const& program, std::uint32_t pivot = none);

    // A smallest persistent set found that has an enabled thread; all threads if there is none.
    template <class Monitor>
    Threads choose(Machine<Monitor> const& machine, Word const* state,
                   std::span<Access const* const> accesses) {
        Threads enabled = 0;
        for (std::uint32_t t = 0; t < accesses.size(); ++t) {
            auto& thread = now_[t];
            thread.point = &points_[t][machine.point(state, t)];
            if (!accesses[t]) continue;
            auto const& a = *accesses[t];
            thread.cell = a.cell;
            thread.writes = a.instruction->op == Op::sc_fence || machine.written(state, a).has_value();
            if (machine.enabled(state, t, a)) enabled |= Threads{1} << t;
        }
        return smallest(enabled);
    }

  private:
    struct Point {
        CellSet ahead;             // read by the pivot after its store, before anything drains its buffer
        CellSet touched, written;  // by all that the thread can ever do, its next access included
    };
    struct Now {
        Point const* point = nullptr;
        bool writes = false;
        std::uint32_t cell = 0;
    };

    Threads smallest(Threads enabled) const;
    Threads closure(std::uint32_t first) const;
    // Whether something that u can ever do depends on the next access of t.
    bool depends(Now const& u, Now const& t) const {
        if (t.writes ? u.point->touched[t.cell] : u.point->written[t.cell]) return true;
        return pivot_ != none && (u.point->written & t.point->ahead).any();
    }

    std::vector<std::vector<Point>> points_;  // per thread and point
    std::vector<Now> now_;                    // per thread, in the state looked at
    Threads all_;
    std::uint32_t pivot_;
};

}  // namespace fencepost
