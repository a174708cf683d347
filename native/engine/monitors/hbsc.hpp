// The hbsc part of every monitor (rocker-2019, Figure 5; design.md, section 3).
//
//   VSC[t] ⊆ Loc    the locations of whose newest write t is hbsc-aware
//   MSC[x] ⊆ Loc    … some access to x is hbsc-aware
//   WSC[x] ⊆ Loc    … the newest write to x is hbsc-aware
//
//   start            VSC[t] = Loc, MSC[x] = WSC[x] = {x}
//   read of x by t   VSC[t] ∪= WSC[x], MSC[x] ∪= old VSC[t]
//   write, RMW       n = VSC[t] ∪ MSC[x] ∪ {x}; remove x everywhere; VSC[t] = MSC[x] = WSC[x] = n
//
// Only what a violation can depend on is kept: elements x for which stale values are tracked at all, MSC[x]
// where x is written, WSC[x] where x is written and read.
#pragma once

#include <vector>

#include "engine/program/bytecode.hpp"
#include "engine/state/layout.hpp"

namespace fencepost {

// Which cells the program reads and writes, as far as monitors care: atomic cells and SC fences.
struct CellUse {
    explicit CellUse(Program const& program);
    std::vector<bool> read, written;

    // A message W[x] is worth keeping where x is written and read. Numbers for them, from `first` on.
    std::vector<std::uint32_t> number_messages(std::size_t first) const;
    std::size_t messages() const;
};

// Which fences a thread can pass: those that acquire, and those that release; SC fences do both.
struct FenceUse {
    explicit FenceUse(Thread const& thread);
    bool acquires = false, releases = false;
};

class Hbsc {
  public:
    Hbsc(Program const& program, CellUse const& use, Layout& layout);

    void start(Word* state) const;
    // Of a state, or of an update of states.
    void read(auto& state, std::uint32_t t, std::uint32_t x) const {
        if (msc_[x] == none) return;
        sets_.unite(state, msc_[x], sets_, t);
        sets_.unite(state, t, sets_, wsc_[x]);
    }
    void write(auto& state, std::uint32_t t, std::uint32_t x) const {
        sets_.unite(state, t, sets_, msc_[x]);
        everywhere_[x].clear(state);
        insert(state, t, x);
        sets_.copy(state, msc_[x], sets_, t);
        if (wsc_[x] != none) sets_.copy(state, wsc_[x], sets_, t);
    }

    // The bit that says x ∈ VSC[t]; none where nobody asks.
    WordMask aware(std::uint32_t t, std::uint32_t x) const {
        auto const& e = element_[x];
        return e.bit == 0 ? WordMask{0, 0} : sets_[t][e.piece].bits(e.bit);
    }

    void add_exchange(Exchange const& e, BitSwaps& swaps) const;
    std::vector<Field> fields_of_thread(std::uint32_t t) const {
        return {sets_[t], sets_[t] + sets_.pieces()};
    }

  private:
    struct Element {
        std::uint32_t piece = 0;
        Word bit = 0;  // 0: not kept
    };

    void insert(auto& state, std::size_t set, std::uint32_t x) const {
        auto const& e = element_[x];
        if (e.bit != 0) set_bits(state, sets_[set][e.piece].bits(e.bit));
    }

    std::vector<Element> element_;          // per cell
    SetArray sets_;                         // VSC per thread, then MSC and WSC where kept
    std::vector<std::uint32_t> msc_;        // cell -> number of its set, or none
    std::vector<std::uint32_t> wsc_;        // cell -> number of its set, or none
    std::vector<BitSelection> everywhere_;  // cell -> its element in all sets
    std::size_t threads_;
};

}  // namespace fencepost
