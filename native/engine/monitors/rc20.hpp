// The monitor for RC20, C++20 atomics without SC accesses (design.md, section 3; rsan-2025, section 4.2).
//
// Besides the hbsc part (hbsc.hpp) it has three views per thread, C[t] what t knows now, A[t] what it will
// know after an acquire fence, R[t] what it knew at its last release fence, and one per location, W[x], the
// view that the newest write to x carries. All start empty.
//
//   read part of x by t    A[t] = A[t] ⊓ W[x]; if acquire, C[t] = C[t] ⊓ W[x]; A[t](x) = C[t](x) = ∅
//   write part of x by t   message m = C[t] if release, else R[t]; of an RMW m ⊓ W[x] (release sequence);
//                          every view learns that the old value is stale, not free if this is an RMW;
//                          C[t](x) = A[t](x) = ∅; W[x] = m with m(x) = ∅
//   acquire fence          C[t] = A[t]
//   release fence          R[t] = C[t]
//   SC fence               acquire fence; RMW of the reserved cell, acquire and release; release fence
//
//   non-atomic read of d   C[t] must know the last write; then only C[t] and A[t] know this read
//   non-atomic write       C[t] must know the last write and all reads since; then only C[t], A[t] know it
//
// Not kept: A[t] where t has no acquire fence (nobody asks for it); R[t] where t has no release fence: then
// it stays what it was at the start, knowing nothing, and one such view serves all threads.
#pragma once

#include "engine/monitors/hbsc.hpp"
#include "engine/monitors/views.hpp"

namespace fencepost {

class Rc20Monitor {
  public:
    static constexpr bool watches = true;
    static constexpr bool has_modes = true;

    Rc20Monitor(Program const& program, Layout& layout) : Rc20Monitor(program, layout, CellUse(program)) {}

    void start(Word* state) const { hbsc_.start(state); }

    // What an access does to a state, or to an update of states.

    void read(auto& state, std::uint32_t t, std::uint32_t x, Instruction const& i) const {
        hbsc_.read(state, t, x);
        learn(state, t, x, i.acquire);
    }
    void write(auto& state, std::uint32_t t, std::uint32_t x, Value old, Instruction const& i) const {
        hbsc_.write(state, t, x);
        publish(state, t, x, old, i.release, false);
    }
    void read_modify_write(auto& state, std::uint32_t t, std::uint32_t x, Value old,
                           Instruction const& i) const {
        modify(state, t, x, old, i.acquire, i.release);
    }
    void sc_fence(auto& state, std::uint32_t t, std::uint32_t f) const {
        acquire_fence(state, t);
        modify(state, t, f, 0, true, true);
        release_fence(state, t);
    }
    void fence(auto& state, std::uint32_t t, Instruction const& i) const {
        if (i.op != Op::release_fence) acquire_fence(state, t);
        if (i.op != Op::acquire_fence) release_fence(state, t);
    }
    void non_atomic_read(auto& state, std::uint32_t t, std::uint32_t d) const {
        views_.note_read(state, t, d);
        known_to(t, [&](std::size_t view) { views_.know_read(state, view, t, d); });
    }
    void non_atomic_write(auto& state, std::uint32_t t, std::uint32_t d) const {
        views_.note_write(state, d);
        known_to(t, [&](std::size_t view) { views_.forget(state, view, d); });
    }

    WordMask aware(std::uint32_t t, std::uint32_t x) const { return hbsc_.aware(t, x); }
    Views const& views() const { return views_; }
    std::size_t current(std::uint32_t t) const { return t; }

    // What changes places with two threads, and what the monitor has for each of them alone.
    void add_exchange(Exchange const& e, BitSwaps& swaps) const {
        hbsc_.add_exchange(e, swaps);
        views_.add_exchange(e, view_map(e), swaps);
    }
    std::vector<Field> fields_of_thread(std::uint32_t t) const {
        auto fields = hbsc_.fields_of_thread(t);
        for (auto const& field : views_.fields_of(current(t))) fields.push_back(field);
        return fields;
    }

  private:
    Rc20Monitor(Program const& program, Layout& layout, CellUse const& use)
        : hbsc_(program, use, layout),
          written_(use.number_messages(program.threads.size())),
          views_(program, layout, number_views(program, use), true) {}

    std::size_t number_views(Program const& program, CellUse const& use) {
        auto next = static_cast<std::uint32_t>(program.threads.size() + use.messages());
        std::uint32_t initial = none;
        for (auto const& thread : program.threads) {
            FenceUse const fences(thread);
            acquire_.push_back(fences.acquires ? next++ : none);
            if (!fences.releases && initial == none) initial = next++;
            release_.push_back(fences.releases ? next++ : initial);
        }
        return next;
    }

    // Where each view goes.
    std::vector<std::size_t> view_map(Exchange const& e) const {
        std::vector<std::size_t> to(views_.count());
        for (std::uint32_t t = 0; t < acquire_.size(); ++t) {
            to[t] = e.thread(t);
            if (acquire_[t] != none) to[acquire_[t]] = acquire_[e.thread(t)];
            to[release_[t]] = release_[e.thread(t)];
        }
        for (std::uint32_t x = 0; x < written_.size(); ++x) {
            if (written_[x] != none) to[written_[x]] = written_[e.cell(x)];
        }
        return to;
    }
    // Both views of t that learn from its own accesses.
    template <class Action>
    void known_to(std::uint32_t t, Action action) const {
        action(current(t));
        if (acquire_[t] != none) action(acquire_[t]);
    }
    void learn(auto& state, std::uint32_t t, std::uint32_t x, bool acquire) const {
        if (written_[x] != none) {
            if (acquire_[t] != none) views_.meet(state, acquire_[t], written_[x]);
            if (acquire) views_.meet(state, current(t), written_[x]);
        }
        known_to(t, [&](std::size_t view) { views_.forget(state, view, x); });
    }
    void publish(auto& state, std::uint32_t t, std::uint32_t x, Value old, bool release, bool rmw) const {
        views_.make_stale(state, x, old, rmw);
        known_to(t, [&](std::size_t view) { views_.forget(state, view, x); });
        if (written_[x] == none) return;
        auto const message = release ? current(t) : release_[t];
        if (rmw) {
            views_.meet(state, written_[x], message);
        } else {
            views_.copy(state, written_[x], message);
        }
        views_.forget(state, written_[x], x);
    }
    void modify(auto& state, std::uint32_t t, std::uint32_t x, Value old, bool acquire, bool release) const {
        hbsc_.write(state, t, x);
        learn(state, t, x, acquire);
        publish(state, t, x, old, release, true);
    }
    void acquire_fence(auto& state, std::uint32_t t) const { views_.copy(state, current(t), acquire_[t]); }
    void release_fence(auto& state, std::uint32_t t) const { views_.copy(state, release_[t], current(t)); }

    Hbsc hbsc_;
    std::vector<std::uint32_t> written_;  // cell -> number of W[x], or none
    std::vector<std::uint32_t> acquire_;  // thread -> number of A[t], or none
    std::vector<std::uint32_t> release_;  // thread -> number of R[t], or of the one that knows nothing
    Views views_;
};

}  // namespace fencepost
