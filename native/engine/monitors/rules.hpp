// The rules of the monitors, each written once. They act on whatever keeps a monitor's sets and views: a
// packed state, a list of operations on packed states (packed_monitor.hpp), or the bits of one topic
// (topics.hpp).
//
// hbsc, the same for every model (rocker-2019, Figure 5; design.md, section 3)
//
//   VSC[t] ⊆ Loc            the locations of whose newest write t is hbsc-aware
//   MSC[x] ⊆ Loc            … some access to x is hbsc-aware
//   WSC[x] ⊆ Loc            … the newest write to x is hbsc-aware
//
//   start                   VSC[t] = Loc, MSC[x] = WSC[x] = {x}
//   read of x by t          MSC[x] ∪= VSC[t]; then VSC[t] ∪= WSC[x]
//   write or RMW            n = VSC[t] ∪ MSC[x] ∪ {x}; remove x everywhere; VSC[t] = MSC[x] = WSC[x] = n
//
// RC20, C++20 atomics without SC accesses (rsan-2025, section 4.2; design.md, section 3)
//
//   C[t], A[t], R[t]        views: what t knows now, what it will know after an acquire fence, what it knew
//                           at its last release fence. A view of x is the set of stale values of x that it
//                           does not rule out. All start empty: nothing is stale.
//   W[x]                    the view that the newest write to x carries
//
//   read part of x by t     A[t] = A[t] ⊓ W[x]; if acquire, C[t] = C[t] ⊓ W[x]; C[t](x) = A[t](x) = ∅
//   write part of x by t    every view learns that the old value is stale, but not free if this is an RMW;
//                           C[t](x) = A[t](x) = ∅; W[x] = m with m(x) = ∅, where m is C[t] if release, else
//                           R[t], and for an RMW m ⊓ W[x] (release sequence)
//   RMW                     read part, then write part
//   acquire fence           C[t] = A[t]
//   release fence           R[t] = C[t]
//   SC fence                acquire fence; RMW of the reserved cell, acquire and release; release fence
//   tainting read of x      nothing: it may as well be the read of an older write; hbsc as for a read
//   non-atomic read of d    every view but C[t] and A[t] misses this read
//   non-atomic write of d   the reads before it are history; every view but C[t] and A[t] misses this write
//
// RA (rocker-2019, Figure 6 with section 5.1): RC20 with every access acquire and release, so that A and R
// are not needed and weak fences do nothing. Its races show in the program state alone (Theorem 6.2).
//
// Violation by t at x, for every label that the program, not only the memory, enables (rocker-2019, Theorem
// 5.3): x ∈ VSC[t], and
//
//   a read of v             v ∈ C[t](x).plain; a load of the criterion "observational" taints its register
//                           instead (machine/machine.hpp), and the violation is that the register is used
//   an RMW of v             v ∈ C[t](x).free
//   a write                 C[t](x).free is not empty
//
// Race of t at d, RC20 (design.md, section 3): C[t] misses an earlier access to d that conflicts.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <tuple>
#include <vector>

#include "engine/machine/event.hpp"

namespace fencepost {

// Sets of locations, and views, by number. One that is not kept has the number `none`.
enum class AwareSet : std::uint32_t {};
enum class View : std::uint32_t {};

constexpr bool is_kept(AwareSet set) {
    return set != AwareSet{none};
}
constexpr bool is_kept(View view) {
    return view != View{none};
}

// The sets and views of a monitor, named as in the papers. Not kept, since no violation depends on them, are
//   MSC[x]         where x is never written;
//   WSC[x], W[x]   where x is never written, or never read: no thread learns from them;
//   A[t]           where t has no acquire fence: no rule asks for it;
//   R[t]           where t has no release fence: it stays what it was at the start, and one view that knows
//                  nothing serves all such threads.
class MonitorParts {
  public:
    // Without modes, A and R are never kept.
    MonitorParts(Program const& program, bool has_modes);

    AwareSet VSC(std::uint32_t t) const { return AwareSet{t}; }
    AwareSet MSC(std::uint32_t x) const { return msc_[x]; }
    AwareSet WSC(std::uint32_t x) const { return wsc_[x]; }
    View C(std::uint32_t t) const { return View{t}; }
    View A(std::uint32_t t) const { return a_[t]; }
    View R(std::uint32_t t) const { return r_[t]; }
    View W(std::uint32_t x) const { return w_[x]; }

    std::uint32_t threads() const { return static_cast<std::uint32_t>(a_.size()); }
    std::uint32_t cells() const { return static_cast<std::uint32_t>(w_.size()); }
    std::uint32_t sets() const { return sets_; }
    std::uint32_t views() const { return views_; }

    // By number: the set, and the view, that takes the part of each when two threads are exchanged.
    std::vector<AwareSet> exchanged_sets(Exchange const& e) const;
    std::vector<View> exchanged_views(Exchange const& e) const;

  private:
    std::vector<AwareSet> msc_, wsc_;  // per cell
    std::vector<View> w_;              // per cell
    std::vector<View> a_, r_;          // per thread
    std::uint32_t sets_, views_;
};

// What the rules act on. Operations on a set or view that is not kept do nothing.
template <class Target>
concept MonitorTarget =
    requires(Target m, AwareSet s, View v, std::uint32_t t, std::uint32_t x, StaleValue old) {
        m.unite(s, s);
        m.copy(s, s);
        m.insert(s, x);
        m.remove_everywhere(x);
        m.meet(v, v);
        m.copy(v, v);
        m.forget(v, x);        // v(x) = ∅
        m.make_stale(x, old);  // in every view
        m.miss_read(x, t);     // by t, in every view
        m.miss_write(x);       // in every view, which forgets the reads before it
        m.know_read(v, x, t);
    };

// VSC, MSC and WSC.
struct Hbsc {
    static void start(MonitorParts const& p, MonitorTarget auto& m) {
        for (std::uint32_t x = 0; x < p.cells(); ++x) {
            for (std::uint32_t t = 0; t < p.threads(); ++t) m.insert(p.VSC(t), x);
            m.insert(p.MSC(x), x);
            m.insert(p.WSC(x), x);
        }
    }
    static void read(MonitorParts const& p, MonitorTarget auto& m, std::uint32_t t, std::uint32_t x) {
        m.unite(p.MSC(x), p.VSC(t));
        m.unite(p.VSC(t), p.WSC(x));
    }
    static void write(MonitorParts const& p, MonitorTarget auto& m, std::uint32_t t, std::uint32_t x) {
        m.unite(p.VSC(t), p.MSC(x));
        m.remove_everywhere(x);
        m.insert(p.VSC(t), x);
        m.copy(p.MSC(x), p.VSC(t));
        m.copy(p.WSC(x), p.VSC(t));
    }
};

// A model says what it is called, whether it tells the modes of accesses apart and knows weak fences, what it
// sees of an event, and what the event does.
struct Rc20 {
    static constexpr char const* name = "RC20";
    static constexpr bool has_modes = true;

    static std::optional<MonitorEvent> seen(MonitorEvent const& e) { return e; }

    static void apply(MonitorParts const& p, MonitorTarget auto& m, MonitorEvent const& e) {
        auto const t = e.thread, x = e.cell;
        switch (e.kind) {
            case MonitorEvent::Kind::read:
                Hbsc::read(p, m, t, x);
                return read_part(p, m, e);
            case MonitorEvent::Kind::tainting_read:
                return Hbsc::read(p, m, t, x);
            case MonitorEvent::Kind::write:
                Hbsc::write(p, m, t, x);
                return write_part(p, m, e, false);
            case MonitorEvent::Kind::read_modify_write:
                return read_modify_write(p, m, e);
            case MonitorEvent::Kind::fence:
                return fences(p, m, e);
            case MonitorEvent::Kind::sc_fence:
                acquire_fence(p, m, t);
                read_modify_write(p, m, e);
                return release_fence(p, m, t);
            case MonitorEvent::Kind::non_atomic_read:
                m.miss_read(x, t);
                m.know_read(p.C(t), x, t);
                return m.know_read(p.A(t), x, t);
            case MonitorEvent::Kind::non_atomic_write:
                m.miss_write(x);
                return know(p, m, t, x);
            case MonitorEvent::Kind::exchange:
                return;  // the target's own affair
        }
    }

  private:
    static void read_part(MonitorParts const& p, MonitorTarget auto& m, MonitorEvent const& e) {
        m.meet(p.A(e.thread), p.W(e.cell));
        if (e.acquire) m.meet(p.C(e.thread), p.W(e.cell));
        know(p, m, e.thread, e.cell);
    }
    static void write_part(MonitorParts const& p, MonitorTarget auto& m, MonitorEvent const& e, bool rmw) {
        auto const t = e.thread, x = e.cell;
        m.make_stale(x, rmw ? StaleValue{e.old.plain, none} : e.old);
        know(p, m, t, x);
        auto const message = e.release ? p.C(t) : p.R(t);
        // C[t](x) is empty already, and an RMW that acquires has just met W[x].
        if (e.release && (e.acquire || !rmw)) return m.copy(p.W(x), message);
        if (rmw) {
            m.meet(p.W(x), message);
        } else {
            m.copy(p.W(x), message);
        }
        m.forget(p.W(x), x);
    }
    static void read_modify_write(MonitorParts const& p, MonitorTarget auto& m, MonitorEvent const& e) {
        Hbsc::write(p, m, e.thread, e.cell);
        read_part(p, m, e);
        write_part(p, m, e, true);
    }
    static void acquire_fence(MonitorParts const& p, MonitorTarget auto& m, std::uint32_t t) {
        m.copy(p.C(t), p.A(t));
    }
    static void release_fence(MonitorParts const& p, MonitorTarget auto& m, std::uint32_t t) {
        m.copy(p.R(t), p.C(t));
    }
    static void fences(MonitorParts const& p, MonitorTarget auto& m, MonitorEvent const& e) {
        using enum MonitorEvent::Fences;
        if (e.fences == release || e.fences == release_acquire) release_fence(p, m, e.thread);
        if (e.fences != release) acquire_fence(p, m, e.thread);
        if (e.fences == acquire_release) release_fence(p, m, e.thread);
    }
    // The views that learn from the thread's own accesses.
    static void know(MonitorParts const& p, MonitorTarget auto& m, std::uint32_t t, std::uint32_t x) {
        m.forget(p.C(t), x);
        m.forget(p.A(t), x);
    }
};

struct Ra {
    static constexpr char const* name = "RA";
    static constexpr bool has_modes = false;

    static std::optional<MonitorEvent> seen(MonitorEvent e) {
        using enum MonitorEvent::Kind;
        if (e.kind == fence || e.kind == non_atomic_read || e.kind == non_atomic_write) return std::nullopt;
        e.acquire = e.release = true;
        return e;
    }
    static void apply(MonitorParts const& p, MonitorTarget auto& m, MonitorEvent const& e) {
        Rc20::apply(p, m, e);
    }
};

// Sequential consistency has no rules, and nothing can violate it.
struct Sc {
    static constexpr char const* name = "SC";
    static constexpr bool has_modes = false;

    static std::optional<MonitorEvent> seen(MonitorEvent const&) { return std::nullopt; }
    static void apply(MonitorParts const&, MonitorTarget auto&, MonitorEvent const&) {}
};

// The models: one row each. A `Model` is the number of a row.
using Models = std::tuple<Sc, Ra, Rc20>;
enum class Model : std::uint8_t {};

// Calls `action` with the rules of the model.
template <std::size_t row = 0, class Action>
auto with_rules(Model model, Action action) {
    using Rules = std::tuple_element_t<row, Models>;
    if constexpr (row + 1 < std::tuple_size_v<Models>) {
        if (model != Model{row}) return with_rules<row + 1>(model, action);
    }
    return action(Rules());
}

inline bool has_modes(Model model) {
    return with_rules(model, []<class Rules>(Rules) { return Rules::has_modes; });
}

// Which stale values in C[t](x) make an access of this kind a violation, if x ∈ VSC[t]: calls `stale` with
// each condition of which one must hold. `expected` and `awaited` are the operands of a CAS and of a wait.
template <class Operand, class Stale>
void violation_conditions(Op op, Operand const& expected, std::vector<Operand> const& awaited, Stale& stale) {
    switch (op) {
        case Op::load:
            return stale.any_plain();
        case Op::wait:
            for (auto const& v : awaited) stale.plain(v);
            return;
        case Op::compare_exchange:  // it fails, or succeeds
            stale.plain_but(expected);
            return stale.free(expected);
        case Op::blocking_compare_exchange:
            return stale.free(expected);
        default:  // stores, RMWs of any value, SC fences
            return stale.any_free();
    }
}

// Whether two accesses to one non-atomic location race unless they are ordered.
constexpr bool conflict(bool first_writes, bool second_writes) {
    return first_writes || second_writes;
}

}  // namespace fencepost
