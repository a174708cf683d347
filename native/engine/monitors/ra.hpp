// The monitor for release/acquire: SCM of rocker-2019, section 5, with critical values (5.1).
//
// Besides the hbsc part (hbsc.hpp) it has one view per thread, C[t] (the paper's V and VRMW), and one per
// location, W[x] (the paper's W and WRMW), the view that the newest write to x carries. All start empty.
//
//   read of x by t    C[t] = C[t] ⊓ W[x]; C[t](x) = ∅
//   write of x by t   every view learns that the old value is stale; C[t](x) = ∅; W[x] = C[t]
//   RMW of x by t     read, then write; the old value is not free, since its successor is an RMW
//   SC fence          RMW of the reserved cell; other fences do nothing under RA
//
// Races on non-atomic cells are visible in the program state alone (Theorem 6.2).
#pragma once

#include "engine/monitors/hbsc.hpp"
#include "engine/monitors/views.hpp"

namespace fencepost {

class RaMonitor {
  public:
    static constexpr bool watches = true;
    static constexpr bool has_modes = false;

    RaMonitor(Program const& program, Layout& layout) : RaMonitor(program, layout, CellUse(program)) {}

    void start(Word* state) const { hbsc_.start(state); }

    // What an access does to a state, or to an update of states.

    void read(auto& state, std::uint32_t t, std::uint32_t x, Instruction const&) const {
        hbsc_.read(state, t, x);
        learn(state, t, x);
    }
    void write(auto& state, std::uint32_t t, std::uint32_t x, Value old, Instruction const&) const {
        hbsc_.write(state, t, x);
        publish(state, t, x, old, false);
    }
    void read_modify_write(auto& state, std::uint32_t t, std::uint32_t x, Value old,
                           Instruction const&) const {
        modify(state, t, x, old);
    }
    void sc_fence(auto& state, std::uint32_t t, std::uint32_t f) const { modify(state, t, f, 0); }
    void fence(auto&, std::uint32_t, Instruction const&) const {}
    void non_atomic_read(auto&, std::uint32_t, std::uint32_t) const {}
    void non_atomic_write(auto&, std::uint32_t, std::uint32_t) const {}

    // What the violation conditions ask (rocker-2019, Theorem 5.3).
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
    RaMonitor(Program const& program, Layout& layout, CellUse const& use)
        : hbsc_(program, use, layout),
          written_(use.number_messages(program.threads.size())),
          views_(program, layout, program.threads.size() + use.messages(), false) {}

    // Where each view goes.
    std::vector<std::size_t> view_map(Exchange const& e) const {
        std::vector<std::size_t> to(views_.count());
        for (std::size_t view = 0; view < to.size(); ++view) to[view] = view;
        to[e.first] = e.second;
        to[e.second] = e.first;
        for (std::uint32_t x = 0; x < written_.size(); ++x) {
            if (written_[x] != none) to[written_[x]] = written_[e.cell(x)];
        }
        return to;
    }
    void learn(auto& state, std::uint32_t t, std::uint32_t x) const {
        if (written_[x] != none) views_.meet(state, t, written_[x]);
        views_.forget(state, t, x);
    }
    void publish(auto& state, std::uint32_t t, std::uint32_t x, Value old, bool rmw) const {
        views_.make_stale(state, x, old, rmw);
        views_.forget(state, t, x);
        if (written_[x] != none) views_.copy(state, written_[x], t);
    }
    void modify(auto& state, std::uint32_t t, std::uint32_t x, Value old) const {
        hbsc_.write(state, t, x);
        learn(state, t, x);
        publish(state, t, x, old, true);
    }

    Hbsc hbsc_;
    std::vector<std::uint32_t> written_;  // cell -> number of W[x], or none
    Views views_;
};

}  // namespace fencepost
