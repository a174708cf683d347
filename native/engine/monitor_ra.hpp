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
// W[x] is kept where x is written and read; elsewhere a read of x teaches nothing.
#pragma once

#include "engine/hbsc.hpp"
#include "engine/stale_views.hpp"

namespace holdfast {

class RaMonitor {
  public:
    static constexpr bool watches = true;

    RaMonitor(Program const& program, Layout& layout) : RaMonitor(program, layout, CellUse(program)) {}

    void start(Word* state) const { hbsc_.start(state); }

    void read(Word* state, std::uint32_t t, std::uint32_t x, Instruction const&) const {
        hbsc_.read(state, t, x);
        learn(state, t, x);
    }
    void write(Word* state, std::uint32_t t, std::uint32_t x, Value old, Instruction const&) const {
        hbsc_.write(state, t, x);
        publish(state, t, x, old, false);
    }
    void read_modify_write(Word* state, std::uint32_t t, std::uint32_t x, Value old,
                           Instruction const&) const {
        hbsc_.write(state, t, x);
        learn(state, t, x);
        publish(state, t, x, old, true);
    }
    void fence(Word*, std::uint32_t, Instruction const&) const {}

    // What the violation conditions ask (rocker-2019, Theorem 5.3).
    bool aware(Word const* state, std::uint32_t t, std::uint32_t x) const { return hbsc_.aware(state, t, x); }
    StaleViews const& views() const { return views_; }
    std::size_t current(std::uint32_t t) const { return t; }

  private:
    RaMonitor(Program const& program, Layout& layout, CellUse const& use)
        : hbsc_(program, use, layout),
          written_view_(view_numbers(program, use)),
          views_(program, layout, program.threads.size() + kept(written_view_)) {}

    static std::vector<std::uint32_t> view_numbers(Program const& program, CellUse const& use) {
        std::vector<std::uint32_t> numbers(program.cells.size(), none);
        auto next = static_cast<std::uint32_t>(program.threads.size());
        for (std::size_t x = 0; x < numbers.size(); ++x) {
            if (use.written[x] && use.read[x]) numbers[x] = next++;
        }
        return numbers;
    }
    static std::size_t kept(std::vector<std::uint32_t> const& numbers) {
        std::size_t count = 0;
        for (auto n : numbers) count += n != none;
        return count;
    }

    void learn(Word* state, std::uint32_t t, std::uint32_t x) const {
        if (written_view_[x] != none) views_.meet(state, t, written_view_[x]);
        views_.forget(state, t, x);
    }
    void publish(Word* state, std::uint32_t t, std::uint32_t x, Value old, bool rmw) const {
        views_.make_stale(state, x, old, rmw);
        views_.forget(state, t, x);
        if (written_view_[x] != none) views_.copy(state, written_view_[x], t);
    }

    Hbsc hbsc_;
    std::vector<std::uint32_t> written_view_;  // cell -> number of W[x], or none
    StaleViews views_;
};

}  // namespace holdfast
