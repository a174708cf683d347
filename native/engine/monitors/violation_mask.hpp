// What to look at in a state to see whether the next access of a thread leaves sequential consistency.
//
// rocker-2019, Theorem 5.3, for every label that the program, not only the memory, enables; x ∈ VSC[t] and:
//   a read of v    v ∈ C[t](x).plain
//   an RMW of v    v ∈ C[t](x).free
//   a write        C[t](x).free is not empty
#pragma once

#include "engine/machine/machine.hpp"

namespace fencepost {

// Some bits of the monitor, one of which must be set, and one more.
struct Watch {
    WordMask aware{0, 0};
    BitSelection stale;

    bool holds(Word const* state) const { return (state[aware.word] & aware.bits) != 0 && stale.any(state); }
};

// For the access `a` at which t stands in `state`; of the state only t's registers matter.
template <class Monitor>
Watch watch(Machine<Monitor> const& machine, Word const* state, std::uint32_t t, Access const& a) {
    Watch watch;
    if constexpr (Monitor::watches) {
        auto const& i = *a.instruction;
        auto const& monitor = machine.monitor();
        auto const& views = monitor.views();
        auto const view = monitor.current(t);
        if (i.non_atomic) return watch;
        watch.aware = monitor.aware(t, a.cell);
        switch (i.op) {
            case Op::load:
                views.add_plain(watch.stale, view, a.cell);
                break;
            case Op::wait:
                for (auto v : machine.awaited(state, t, i)) views.add_plain(watch.stale, view, a.cell, v);
                break;
            case Op::store:
            case Op::fetch_add:
            case Op::exchange:
            case Op::sc_fence:
                views.add_free(watch.stale, view, a.cell);
                break;
            case Op::compare_exchange:
                views.add_plain_but(watch.stale, view, a.cell, a.first);
                [[fallthrough]];
            default:  // Op::blocking_compare_exchange
                views.add_free(watch.stale, view, a.cell, a.first);
        }
    }
    return watch;
}

}  // namespace fencepost
