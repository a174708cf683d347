// Views: per location, which values of stale writes a view still allows to read (`plain`), and to directly
// follow in modification order (`free`) (rocker-2019, Figure 6 with 5.1; design.md, section 3).
//
// A view is a set of bits, one per value class of each cell, so that the meet of two views is the
// intersection of two sets. That is exact although classes stand for several values: the writes a view
// allows are a suffix of the modification order, so of two views one always includes the other at a cell.
#pragma once

#include <vector>

#include "engine/bytecode.hpp"
#include "engine/layout.hpp"

namespace holdfast {

class StaleViews {
  public:
    StaleViews(Program const& program, Layout& layout, std::size_t views);

    // view = view ⊓ other
    void meet(Word* state, std::size_t view, std::size_t other) const {
        sets_.intersect(state, view, sets_, other);
    }
    void copy(Word* state, std::size_t to, std::size_t from) const { sets_.copy(state, to, sets_, from); }
    // view(x) = ∅
    void forget(Word* state, std::size_t view, std::uint32_t x) const {
        for (auto const& part : bits_[x].all) {
            auto const& field = sets_[view][part.piece];
            field.intersect(state, field.mask & ~part.bits);
        }
    }
    // v(x).plain ∪= {old} for all views v, and v(x).free too unless the write that makes it stale is an RMW
    void make_stale(Word* state, std::uint32_t x, Value old, bool by_rmw) const;

    bool any_plain(Word const* state, std::size_t view, std::uint32_t x) const {
        return any(state, view, bits_[x].plain);
    }
    bool any_free(Word const* state, std::size_t view, std::uint32_t x) const {
        return any(state, view, bits_[x].free);
    }
    bool plain(Word const* state, std::size_t view, std::uint32_t x, Value v) const;
    bool free(Word const* state, std::size_t view, std::uint32_t x, Value v) const;
    // A value other than v is in view(x).plain.
    bool plain_but(Word const* state, std::size_t view, std::uint32_t x, Value v) const;

  private:
    struct Part {
        std::uint32_t piece;
        Word bits;
    };
    struct CellBits {
        std::vector<Part> plain_class, free_class;                    // one bit per class
        std::vector<Part> plain, free, all;                           // the same, merged per piece
        std::vector<BitSelection> plain_everywhere, free_everywhere;  // per class
    };

    bool any(Word const* state, std::size_t view, std::vector<Part> const& parts) const {
        for (auto const& part : parts) {
            if (sets_[view][part.piece].get(state) & part.bits) return true;
        }
        return false;
    }
    bool has(Word const* state, std::size_t view, Part const& part) const {
        return (sets_[view][part.piece].get(state) & part.bits) != 0;
    }

    std::vector<Cell> const& cells_;
    std::vector<CellBits> bits_;  // per cell
    SetArray sets_;
};

}  // namespace holdfast
