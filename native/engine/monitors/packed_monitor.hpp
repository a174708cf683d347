// The monitor of a model in the packed words of a state: its rules (rules.hpp) run on a state, or once and
// for all states on an `Update` (state/update.hpp).
#pragma once

#include <vector>

#include "engine/machine/machine.hpp"
#include "engine/monitors/rules.hpp"
#include "engine/monitors/views.hpp"
#include "engine/state/layout.hpp"

namespace fencepost {

// VSC, MSC and WSC. Only locations of which stale values are tracked are elements: no violation depends on
// the others.
class AwareSets {
  public:
    AwareSets(Program const& program, MonitorParts const& parts, Layout& layout);

    // What rules.hpp asks for, in a state or in an update of states; the sets must be kept.
    void unite(auto& state, AwareSet to, AwareSet from) const { sets_.unite(state, index(to), index(from)); }
    void copy(auto& state, AwareSet to, AwareSet from) const { sets_.copy(state, index(to), index(from)); }
    void insert(auto& state, AwareSet set, std::uint32_t x) const {
        if (auto const bit = has(set, x); bit.bits != 0) set_bits(state, bit);
    }
    void remove_everywhere(auto& state, std::uint32_t x) const { everywhere_[x].clear(state); }

    // The bit that says that x is in the set; none where nobody asks.
    WordMask has(AwareSet set, std::uint32_t x) const {
        auto const& e = element_[x];
        return e.bit == 0 ? WordMask{0, 0} : sets_[index(set)][e.piece].bits(e.bit);
    }

    void add_renaming(Renaming const& e, std::vector<AwareSet> const& to, BitPermutation& moves) const;
    std::vector<Field> fields_of(AwareSet set) const {
        return {sets_[index(set)], sets_[index(set)] + sets_.pieces(index(set))};
    }

  private:
    struct Element {
        std::uint32_t piece = 0;
        Word bit = 0;  // 0: not kept
    };
    static std::size_t index(AwareSet set) { return static_cast<std::size_t>(set); }

    std::vector<Element> element_;          // per cell
    std::vector<BitSelection> everywhere_;  // per cell: its element in all sets
    SetArray sets_;
};

// What the rules act on: a state (`Word*`), or an update of states.
template <class State>
class PackedTarget {
  public:
    PackedTarget(AwareSets const& sets, Views const& views, State& state)
        : sets_(sets), views_(views), state_(state) {}

    void unite(AwareSet to, AwareSet from) {
        if (is_kept(to) && is_kept(from)) sets_.unite(state_, to, from);
    }
    void copy(AwareSet to, AwareSet from) {
        if (is_kept(to) && is_kept(from)) sets_.copy(state_, to, from);
    }
    void insert(AwareSet set, std::uint32_t x) {
        if (is_kept(set)) sets_.insert(state_, set, x);
    }
    void remove_everywhere(std::uint32_t x) { sets_.remove_everywhere(state_, x); }

    void meet(View view, View other) {
        if (is_kept(view) && is_kept(other)) views_.meet(state_, view, other);
    }
    void copy(View to, View from) {
        if (is_kept(to) && is_kept(from)) views_.copy(state_, to, from);
    }
    void forget(View view, std::uint32_t x) {
        if (is_kept(view)) views_.forget(state_, view, x);
    }
    void make_stale(std::uint32_t x, StaleValue old) { views_.make_stale(state_, x, old); }
    void miss_read(std::uint32_t d, std::uint32_t t) { views_.miss_read(state_, d, t); }
    void miss_write(std::uint32_t d) { views_.miss_write(state_, d); }
    void know_read(View view, std::uint32_t d, std::uint32_t t) {
        if (is_kept(view)) views_.know_read(state_, view, d, t);
    }

  private:
    AwareSets const& sets_;
    Views const& views_;
    State& state_;
};

template <class Rules>
class PackedMonitor {
  public:
    static constexpr bool watches = true;
    static constexpr bool has_modes = Rules::parts.modes;
    static constexpr bool has_views = true;

    PackedMonitor(Program const& program, Layout& layout)
        : parts_(program, Rules::parts),
          sets_(program, parts_, layout),
          views_(program, layout, parts_, has_modes) {}

    void start(Word* state) const {
        PackedTarget target(sets_, views_, state);
        Hbsc::start(parts_, target);
    }
    void apply(auto& state, MonitorEvent const& event) const {
        auto const seen = Rules::seen(event);
        if (!seen) return;
        PackedTarget target(sets_, views_, state);
        Rules::apply(parts_, target, *seen);
    }

    // What violations and races depend on: the bit of x ∈ VSC[t], C[t], and for an SC access P[t].
    WordMask aware(std::uint32_t t, std::uint32_t x) const { return sets_.has(parts_.VSC(t), x); }
    View current(std::uint32_t t) const { return parts_.C(t); }
    View order(std::uint32_t t, bool sc) const { return sc ? parts_.P().current[t] : View{none}; }
    Views const& views() const { return views_; }

    void add_renaming(Renaming const& e, BitPermutation& moves) const {
        sets_.add_renaming(e, parts_.renamed_sets(e), moves);
        views_.add_renaming(e, parts_.renamed_views(e), moves);
    }
    std::vector<Field> fields_of_thread(std::uint32_t t) const {
        auto fields = sets_.fields_of(parts_.VSC(t));
        for (auto const& field : views_.fields_of(parts_.C(t))) fields.push_back(field);
        return fields;
    }

  private:
    MonitorParts parts_;
    AwareSets sets_;
    Views views_;
};

// The next access of a thread violates robustness in the states that have one bit set, and one of some others
// or both of some pair.
struct ViolationMask {
    WordMask aware{0, 0};
    Views::Selected stale;
    WordMask in_one_word{0, 0};  // all of `stale`, if `is_simple`
    bool is_simple = true;

    bool holds(Word const* state) const {
        bool const is_aware = (state[aware.word] & aware.bits) != 0;
        // Nobody could guess which bits are set.
        if (is_simple) return is_aware & ((state[in_one_word.word] & in_one_word.bits) != 0);
        return is_aware && stale.any(state);
    }
    // When all bits are known.
    void finish() {
        auto const masks = stale.in_one.masks();
        is_simple = masks.size() <= 1 && stale.in_both.empty();
        if (masks.size() == 1) in_one_word = masks[0];
    }
};

// For the access `a` at which t stands in `state`; of the state only t's registers matter.
template <class Monitor>
ViolationMask violation_mask(Machine<Monitor> const& machine, Word const* state, std::uint32_t t,
                             Access const& a) {
    ViolationMask mask;
    if constexpr (Monitor::watches) {
        auto const& i = *a.instruction;
        if (i.non_atomic) return mask;
        auto const& monitor = machine.monitor();
        mask.aware = monitor.aware(t, a.cell);
        Views::StaleBits stale(monitor.views(), a.cell, monitor.current(t), monitor.order(t, i.sc_alone),
                               monitor.order(t, i.sc), mask.stale);
        violation_conditions(i.op, a.first, machine.awaited(state, t, i), stale);
        mask.finish();
    }
    return mask;
}

}  // namespace fencepost
