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
#pragma once

#include <optional>
#include <vector>

#include "engine/program/bytecode.hpp"
#include "engine/state/layout.hpp"

namespace fencepost {

class Views {
  public:
    // Non-atomic cells take part if `with_races` is set.
    Views(Program const& program, Layout& layout, std::size_t views, bool with_races);

    // What an access does to views, in a state or in an update of states.
    // view = view ⊓ other
    void meet(auto& state, std::size_t view, std::size_t other) const {
        sets_.intersect(state, view, sets_, other);
    }
    void copy(auto& state, std::size_t to, std::size_t from) const { sets_.copy(state, to, sets_, from); }

    // view(x) = ∅
    void forget(auto& state, std::size_t view, std::uint32_t x) const {
        for (auto const& part : bits_[x].all) clear(state, view, part);
    }
    // v(x).plain ∪= {old} for all views v, and v(x).free too unless the write that makes it stale is an RMW
    void make_stale(auto& state, std::uint32_t x, Value old, bool by_rmw) const {
        auto const plain_class = cells_[x].plain.of(old);
        if (plain_class != none) bits_[x].plain_everywhere[plain_class].set(state);
        if (by_rmw) return;
        auto const free_class = cells_[x].free.of(old);
        if (free_class != none) bits_[x].free_everywhere[free_class].set(state);
    }

    // The bits of view(x).plain and view(x).free: all of them, or the one of v; of plain all but that one.
    void add_plain(BitSelection& selection, std::size_t view, std::uint32_t x) const {
        add(selection, view, bits_[x].plain);
    }
    void add_free(BitSelection& selection, std::size_t view, std::uint32_t x) const {
        add(selection, view, bits_[x].free);
    }
    void add_plain(BitSelection& selection, std::size_t view, std::uint32_t x, Value v) const {
        auto const c = cells_[x].plain.of_critical(v);
        if (c != none) add(selection, view, bits_[x].plain_class[c]);
    }
    void add_free(BitSelection& selection, std::size_t view, std::uint32_t x, Value v) const {
        auto const c = cells_[x].free.of_critical(v);
        if (c != none) add(selection, view, bits_[x].free_class[c]);
    }
    void add_plain_but(BitSelection& selection, std::size_t view, std::uint32_t x, Value v) const {
        auto const excluded = cells_[x].plain.of_critical(v);
        for (std::uint32_t c = 0; c < bits_[x].plain_class.size(); ++c) {
            if (c != excluded) add(selection, view, bits_[x].plain_class[c]);
        }
    }

    // A new access by t to the non-atomic cell d, which no view knows; a write makes all others of d history.
    void note_read(auto& state, std::uint32_t t, std::uint32_t d) const {
        bits_[d].read_everywhere[t].set(state);
    }
    void note_write(auto& state, std::uint32_t d) const {
        for (auto const& read : bits_[d].read_everywhere) read.clear(state);
        bits_[d].write_everywhere.set(state);
    }
    void know_read(auto& state, std::size_t view, std::uint32_t t, std::uint32_t d) const {
        clear(state, view, bits_[d].read[t]);
    }
    // An access to d that the view does not know: the last write, or where `reads` matter the read of a
    // thread.
    struct UnknownAccess {
        bool write;
        std::uint32_t thread;  // of a read
    };
    std::optional<UnknownAccess> unknown(Word const* state, std::size_t view, std::uint32_t d,
                                         bool reads) const;

    std::size_t count() const { return sets_.count(); }
    // With two threads, views change places as `to` says, and so do bits in all of them.
    void add_exchange(Exchange const& e, std::vector<std::size_t> const& to, BitSwaps& swaps) const;
    std::vector<Field> fields_of(std::size_t view) const {
        return {sets_[view], sets_[view] + sets_.pieces()};
    }

  private:
    struct Part {
        std::uint32_t piece;
        Word bits;
    };
    struct CellBits {
        std::vector<Part> plain_class, free_class;                    // one bit per class
        std::vector<Part> plain, free, all;                           // the same, merged per piece
        std::vector<BitSelection> plain_everywhere, free_everywhere;  // per class, in all views
        std::vector<Part> write, read;                                // non-atomic: one bit, one per thread
        BitSelection write_everywhere;
        std::vector<BitSelection> read_everywhere;
    };

    static void append(std::vector<Part>& merged, Part const& part);
    void number_bits(BitNumbering& numbering, std::size_t threads, bool with_races);
    BitSelection everywhere(Part const& part) const;
    std::vector<BitSelection> everywhere(std::vector<Part> const& parts) const;

    void add(BitSelection& selection, std::size_t view, Part const& part) const {
        selection.add(sets_[view][part.piece], part.bits);
    }
    void add(BitSelection& selection, std::size_t view, std::vector<Part> const& parts) const {
        for (auto const& part : parts) add(selection, view, part);
    }
    bool has(Word const* state, std::size_t view, Part const& part) const {
        return (sets_[view][part.piece].get(state) & part.bits) != 0;
    }
    void clear(auto& state, std::size_t view, Part const& part) const {
        clear_bits(state, sets_[view][part.piece].bits(part.bits));
    }

    std::vector<Cell> const& cells_;
    std::vector<CellBits> bits_;  // per cell
    SetArray sets_;
};

}  // namespace fencepost
