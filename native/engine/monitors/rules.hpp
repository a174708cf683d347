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
// CPP20, C++20 atomics with SC accesses (seq-cst.md): RC20 in which SC accesses acquire and release, and an
// SC fence is an acquire-release fence; and a total order S of the SC accesses and fences. K(e) is what must
// come before the SC event e in S, as a view: it rules out the writes to a location that are older than one
// which is, or is read by, an SC access in S before e or e itself, or which happens before such a fence. What
// seq-cst.md says of clocks is said here of views; the join of two clocks is the meet of two views.
//
//   P[t]                    K of the SC events that strongly happen before the next event of t
//   F[t]                    K of the SC fences that happen before it
//   E[t]                    K of what is before an access, by eco, that happens before it
//                           Each of them is kept three times, like C, A and R, and travels with messages like
//                           them. C, A, R and W rule out besides what F and its like rule out: that bounds
//                           every access, SC or not, just as happens-before does.
//   KW[x], KM[x]            K of what comes by eco before the next read of x, and before its next write: of
//                           SC accesses to x, and of the SC fences that happen before accesses to x
//
//   access of x by t        the rules of RC20; then, with in = KM[x] if it writes, else KW[x]:
//     eco                   E[t] ⊓= in, now and pending
//     write part            messages of P, F and E as of C; that of P is without K of the access itself:
//                           what strongly happens before the reader must be followed by a release
//     SC                    P[t] = K = P[t] ⊓ in with K(x) = ∅; KM[x] ⊓= K
//     read part             messages of P, F and E as of C
//                           KM[x] ⊓= F[t]; if it writes, KW[x] = KM[x]
//   weak fences             for P, F and E as for C
//   SC fence                acquire fence for C and E; K = E[t] ⊓ C[t]; C[t], F[t] and P[t] are K, now,
//                           pending and as of the last release fence; release fence for E
//
// The SC fence of seq-cst.md has P[t] in its K, and keeps its K from the copy of P for relaxed writes.
// Neither can be noticed. E ⊓ C rules out all that P does, since an SC access adds to P what it adds to E and
// to C. And wherever P is asked for, F, which has K, is asked for as well: in checks as part of C, and in KM.
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
// Under CPP20, for an SC access, these must be in P[t](x) too.
//
// Race of t at d, RC20 (design.md, section 3): C[t] misses an earlier access to d that conflicts.
#pragma once

#include <array>
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

// The views of what travels like happens-before: what a thread knows now, what it will know after an acquire
// fence, what it knew at its last release fence, and what the newest write to a cell tells those who read it.
struct Travelling {
    std::vector<View> current, pending, released;  // per thread
    std::vector<View> message;                     // per cell

    Travelling(std::size_t threads, std::size_t cells)
        : current(threads, View{none}),
          pending(threads, View{none}),
          released(threads, View{none}),
          message(cells, View{none}) {}
};

// What a model needs beside the sets of hbsc, C and W.
struct ModelParts {
    bool modes = false;  // A and R: accesses have modes, and weak fences do something
    bool order = false;  // S
};

// The sets and views of a monitor, named as in the papers. Not kept, since no violation depends on them, are
//   MSC[x]         where x is never written;
//   WSC[x], W[x]   where x is never written, or never read: no thread learns from them;
//   A[t]           where t has no acquire fence: no rule asks for it;
//   R[t]           where t has no release fence: it stays what it was at the start, and one view that knows
//                  nothing serves all such threads;
// of CPP20
//   all of P       where the program has no SC accesses: only they ask for it;
//   all of F, E    where the program has no SC fences: F stays what it was at the start, and only SC
//                  fences ask for E;
//   of P, F, E     what is not kept of C, A, R and W, for the same reasons;
//   KM[x]          where x is never written: only writes ask for it; and without SC fences also where x
//                  has no SC accesses: it stays what it was at the start;
//   KW[x]          where KM[x] is not kept, or x is never read.
class MonitorParts {
  public:
    // Throws std::invalid_argument if the program has the SC fences of another kind of model.
    MonitorParts(Program const& program, ModelParts model);

    AwareSet VSC(std::uint32_t t) const { return AwareSet{t}; }
    AwareSet MSC(std::uint32_t x) const { return msc_[x]; }
    AwareSet WSC(std::uint32_t x) const { return wsc_[x]; }
    View C(std::uint32_t t) const { return hb_.current[t]; }
    View A(std::uint32_t t) const { return hb_.pending[t]; }
    View R(std::uint32_t t) const { return hb_.released[t]; }
    View W(std::uint32_t x) const { return hb_.message[x]; }
    Travelling const& hb() const { return hb_; }  // C, A, R and W
    Travelling const& P() const { return p_; }
    Travelling const& F() const { return f_; }
    Travelling const& E() const { return e_; }
    std::array<Travelling const*, 3> order() const { return {&p_, &f_, &e_}; }
    View KW(std::uint32_t x) const { return kw_[x]; }
    View KM(std::uint32_t x) const { return km_[x]; }

    std::uint32_t threads() const { return static_cast<std::uint32_t>(hb_.current.size()); }
    std::uint32_t cells() const { return static_cast<std::uint32_t>(msc_.size()); }
    std::uint32_t sets() const { return sets_; }
    std::uint32_t views() const { return views_; }
    // C, A, R and W have the numbers below this. All others say nothing about races, since no happens-before
    // comes from S.
    std::uint32_t hb_views() const { return hb_views_; }

    // By number: the set, and the view, that a renaming puts in the place of each.
    std::vector<AwareSet> renamed_sets(Renaming const& e) const;
    std::vector<View> renamed_views(Renaming const& e) const;

  private:
    struct Facts;
    void add_hb(Program const& program, Facts const& facts, bool has_modes);
    void add_order(Facts const& facts);
    void add_like_hb(Travelling& added);
    View new_view() { return View{views_++}; }

    std::vector<AwareSet> msc_, wsc_;  // per cell
    Travelling hb_, p_, f_, e_;
    std::vector<View> kw_, km_;  // per cell
    View knows_nothing_{none};
    std::uint32_t sets_ = 0, views_ = 0, hb_views_ = 0;
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

// How what is known travels, of whatever kind it is.
struct Travel {
    static void read_part(Travelling const& v, MonitorTarget auto& m, MonitorEvent const& e) {
        m.meet(v.pending[e.thread], v.message[e.cell]);
        if (e.acquire) m.meet(v.current[e.thread], v.message[e.cell]);
    }
    static void write_part(Travelling const& v, MonitorTarget auto& m, MonitorEvent const& e, bool rmw) {
        auto const sent = e.release ? v.current[e.thread] : v.released[e.thread];
        if (rmw) {
            m.meet(v.message[e.cell], sent);
        } else {
            m.copy(v.message[e.cell], sent);
        }
    }
    static void acquire_fence(Travelling const& v, MonitorTarget auto& m, std::uint32_t t) {
        m.copy(v.current[t], v.pending[t]);
    }
    static void release_fence(Travelling const& v, MonitorTarget auto& m, std::uint32_t t) {
        m.copy(v.released[t], v.current[t]);
    }
    static void fences(Travelling const& v, MonitorTarget auto& m, MonitorEvent const& e) {
        using enum MonitorEvent::Fences;
        if (e.fences == release || e.fences == release_acquire) release_fence(v, m, e.thread);
        if (e.fences != release) acquire_fence(v, m, e.thread);
        if (e.fences == acquire_release) release_fence(v, m, e.thread);
    }
};

// A model says what it is called, which parts it needs, what it sees of an event, and what the event does.
struct Rc20 {
    static constexpr char const* name = "RC20";
    static constexpr ModelParts parts{.modes = true};

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
                return Travel::fences(p.hb(), m, e);
            case MonitorEvent::Kind::sc_fence:
                Travel::acquire_fence(p.hb(), m, t);
                read_modify_write(p, m, e);
                return Travel::release_fence(p.hb(), m, t);
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
        Travel::read_part(p.hb(), m, e);
        know(p, m, e.thread, e.cell);
    }
    static void write_part(MonitorParts const& p, MonitorTarget auto& m, MonitorEvent const& e, bool rmw) {
        auto const t = e.thread, x = e.cell;
        m.make_stale(x, rmw ? StaleValue{e.old.plain, none} : e.old);
        know(p, m, t, x);
        // C[t](x) is empty already, and an RMW that acquires has just met W[x].
        if (e.release && (e.acquire || !rmw)) return m.copy(p.W(x), p.C(t));
        Travel::write_part(p.hb(), m, e, rmw);
        m.forget(p.W(x), x);
    }
    static void read_modify_write(MonitorParts const& p, MonitorTarget auto& m, MonitorEvent const& e) {
        Hbsc::write(p, m, e.thread, e.cell);
        read_part(p, m, e);
        write_part(p, m, e, true);
    }
    // The views that learn from the thread's own accesses.
    static void know(MonitorParts const& p, MonitorTarget auto& m, std::uint32_t t, std::uint32_t x) {
        m.forget(p.C(t), x);
        m.forget(p.A(t), x);
    }
};

struct Cpp20 {
    static constexpr char const* name = "CPP20";
    static constexpr ModelParts parts{.modes = true, .order = true};

    static std::optional<MonitorEvent> seen(MonitorEvent const& e) { return e; }

    static void apply(MonitorParts const& p, MonitorTarget auto& m, MonitorEvent const& e) {
        switch (e.kind) {
            case MonitorEvent::Kind::read:
                Rc20::apply(p, m, e);
                return access(p, m, e, true, false);
            case MonitorEvent::Kind::write:
                Rc20::apply(p, m, e);
                return access(p, m, e, false, true);
            case MonitorEvent::Kind::read_modify_write:
                Rc20::apply(p, m, e);
                return access(p, m, e, true, true);
            case MonitorEvent::Kind::fence:
                return fences(p, m, e);
            default:
                return Rc20::apply(p, m, e);
        }
    }

  private:
    // What an access does to P, F, E and K. An RMW sends its message before it takes the one it reads: what
    // it takes is in what it sends, as it extends that message.
    static void access(MonitorParts const& p, MonitorTarget auto& m, MonitorEvent const& e, bool reads,
                       bool writes) {
        auto const t = e.thread, x = e.cell;
        auto const in = writes ? p.KM(x) : p.KW(x);
        m.meet(p.E().current[t], in);
        m.meet(p.E().pending[t], in);
        if (writes) {
            for (auto const* v : p.order()) Travel::write_part(*v, m, e, reads);
        }
        if (e.sc) {
            m.meet(p.P().current[t], in);
            m.forget(p.P().current[t], x);
            m.meet(p.KM(x), p.P().current[t]);
        }
        if (reads) {
            for (auto const* v : p.order()) Travel::read_part(*v, m, e);
        }
        if (e.sc) m.meet(p.P().pending[t], p.P().current[t]);
        m.meet(p.KM(x), p.F().current[t]);
        if (writes) m.copy(p.KW(x), p.KM(x));
    }
    static void fences(MonitorParts const& p, MonitorTarget auto& m, MonitorEvent const& e) {
        if (e.fences == MonitorEvent::Fences::sc) return sc_fence(p, m, e.thread);
        Travel::fences(p.hb(), m, e);
        for (auto const* v : p.order()) Travel::fences(*v, m, e);
    }
    static void sc_fence(MonitorParts const& p, MonitorTarget auto& m, std::uint32_t t) {
        Travel::acquire_fence(p.hb(), m, t);
        Travel::acquire_fence(p.E(), m, t);
        m.meet(p.C(t), p.E().current[t]);  // C[t] is K now
        m.copy(p.A(t), p.C(t));
        Travel::release_fence(p.hb(), m, t);
        for (auto const* v : {&p.P(), &p.F()}) {
            m.copy(v->current[t], p.C(t));
            m.copy(v->pending[t], p.C(t));
            m.copy(v->released[t], p.C(t));
        }
        Travel::release_fence(p.E(), m, t);
    }
};

struct Ra {
    static constexpr char const* name = "RA";
    static constexpr ModelParts parts{};

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
    static constexpr ModelParts parts{};

    static std::optional<MonitorEvent> seen(MonitorEvent const&) { return std::nullopt; }
    static void apply(MonitorParts const&, MonitorTarget auto&, MonitorEvent const&) {}
};

// The models: one row each. A `Model` is the number of a row.
using Models = std::tuple<Sc, Ra, Rc20, Cpp20>;
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

inline ModelParts parts_of(Model model) {
    return with_rules(model, []<class Rules>(Rules) { return Rules::parts; });
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
