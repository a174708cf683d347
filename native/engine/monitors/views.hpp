// Views: what a thread, or the newest write to a location, does not know yet.
//
// Of an atomic cell x a view holds the values of stale writes (all but the newest) that it still allows to
// read (`plain`), and to directly follow in modification order (`free`) (rocker-2019, Figure 6 with 5.1;
// design.md, section 3). Of a non-atomic cell d it holds the accesses that are not known to happen before:
// the last write, and since then the last read of each thread (design.md, section 3, data races).
//
// A view is one set of bits, so that the meet of two views (learning what either knows) is the intersection
// of two sets. That is exact although a bit can stand for several values: the writes that a view allows are a
// suffix of the modification order, so of two views one always includes the other at a cell. All views start
// empty: nothing is stale, and everything is known.
//
// Only the views of happens-before hold accesses to non-atomic cells. What other views know of happens-before
// is no part of them, and no part of it comes from them.
#pragma once

#include <optional>
#include <vector>

#include "engine/monitors/rules.hpp"
#include "engine/state/layout.hpp"

namespace fencepost {

class Views {
    struct Part {
        std::uint32_t piece;
        Word bits;
    };
    struct CellBits {
        std::vector<Part> plain_class, free_class;                    // one bit per class
        std::vector<Part> all;                                        // all bits of the cell, per piece
        std::vector<BitSelection> plain_everywhere, free_everywhere;  // per class, in all views
        std::vector<Part> write, read;                                // non-atomic: one bit, one per thread
        BitSelection write_everywhere;
        std::vector<BitSelection> read_everywhere;
    };

  public:
    // Non-atomic cells take part if `with_races` is set.
    Views(Program const& program, Layout& layout, MonitorParts const& parts, bool with_races);

    // What rules.hpp asks for, in a state or in an update of states; the view must be kept.
    void meet(auto& state, View view, View other) const { sets_.intersect(state, index(view), index(other)); }
    void copy(auto& state, View to, View from) const { sets_.copy(state, index(to), index(from)); }
    void forget(auto& state, View view, std::uint32_t x) const {
        for (auto const& part : bits_[x].all) clear(state, view, part);
    }
    void make_stale(auto& state, std::uint32_t x, StaleValue old) const {
        if (old.plain != none) bits_[x].plain_everywhere[old.plain].set(state);
        if (old.free != none) bits_[x].free_everywhere[old.free].set(state);
    }
    void miss_read(auto& state, std::uint32_t d, std::uint32_t t) const {
        bits_[d].read_everywhere[t].set(state);
    }
    void miss_write(auto& state, std::uint32_t d) const {
        for (auto const& read : bits_[d].read_everywhere) read.clear(state);
        bits_[d].write_everywhere.set(state);
    }
    void know_read(auto& state, View view, std::uint32_t d, std::uint32_t t) const {
        clear(state, view, bits_[d].read[t]);
    }

    // An earlier access to d that the view misses and that conflicts with one that writes or does not.
    struct MissedAccess {
        bool write;
        std::uint32_t thread;  // of a read
    };
    std::optional<MissedAccess> missed(Word const* state, View view, std::uint32_t d, bool writes) const;

    // Of the stale values of one cell, some in one view, and some that two views have in common.
    struct Selected {
        BitSelection in_one;
        BitPairs in_both;

        bool any(Word const* state) const { return in_one.any(state) || in_both.any(state); }
    };

    // Selects bits of view(x), for `violation_conditions`. Values to read count only if they are also in
    // `also_plain`(x), and values to follow only if they are in `also_free`(x), if there are such views.
    class StaleBits {
      public:
        StaleBits(Views const& views, std::uint32_t x, View view, View also_plain, View also_free,
                  Selected& selected)
            : views_(views),
              cell_(views.cells_[x]),
              bits_(views.bits_[x]),
              view_(view),
              also_plain_(also_plain),
              also_free_(also_free),
              selected_(selected) {}

        void any_plain() { add_all(bits_.plain_class, also_plain_); }
        void any_free() { add_all(bits_.free_class, also_free_); }
        void plain(Value v) { add(bits_.plain_class, cell_.plain.of_critical(v), also_plain_); }
        void free(Value v) { add(bits_.free_class, cell_.free.of_critical(v), also_free_); }
        void plain_but(Value v) {
            auto const excluded = cell_.plain.of_critical(v);
            for (std::uint32_t c = 0; c < bits_.plain_class.size(); ++c) {
                if (c != excluded) add(bits_.plain_class, c, also_plain_);
            }
        }

      private:
        void add_all(std::vector<Part> const& classes, View also) {
            for (std::uint32_t c = 0; c < classes.size(); ++c) add(classes, c, also);
        }
        void add(std::vector<Part> const& classes, std::uint32_t c, View also) {
            if (c == none) return;
            auto const& [piece, bits] = classes[c];
            auto const& field = views_.sets_[index(view_)][piece];
            if (is_kept(also)) {
                selected_.in_both.add(field, views_.sets_[index(also)][piece], bits);
            } else {
                selected_.in_one.add(field, bits);
            }
        }

        Views const& views_;
        Cell const& cell_;
        CellBits const& bits_;
        View view_, also_plain_, also_free_;
        Selected& selected_;
    };

    // With two threads, views change places as `to` says, and so do bits in all of them.
    void add_renaming(Renaming const& e, std::vector<View> const& to, BitPermutation& moves) const;
    std::vector<Field> fields_of(View view) const {
        return {sets_[index(view)], sets_[index(view)] + sets_.pieces(index(view))};
    }

  private:
    static std::size_t index(View view) { return static_cast<std::size_t>(view); }
    void number_values(BitNumbering& numbering, std::size_t x);
    void number_races(BitNumbering& numbering, std::size_t x, std::size_t threads);
    void take(BitNumbering& numbering, std::size_t x, std::size_t count, std::vector<Part>& single);
    BitSelection everywhere(Part const& part) const;
    std::vector<BitSelection> everywhere(std::vector<Part> const& parts) const;

    bool has(Word const* state, View view, Part const& part) const {
        return (sets_[index(view)][part.piece].get(state) & part.bits) != 0;
    }
    void clear(auto& state, View view, Part const& part) const {
        clear_bits(state, sets_[index(view)][part.piece].bits(part.bits));
    }

    std::vector<Cell> const& cells_;
    std::vector<CellBits> bits_;  // per cell
    SetArray sets_;
};

}  // namespace fencepost
