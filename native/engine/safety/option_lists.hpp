// Read options, lists of them, each list once, and states made of these (sra-2020, Definitions 5.6 and 5.7).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/safety/sources.hpp"

namespace fencepost {

// What an option demands of its write beside being readable: nothing (R), to be the last one of its cell in
// modification order (U, the RMW of the paper), or not to be (S, for write/write races: design.md, section
// 6).
enum class Flag : std::uint8_t { R, U, S };

struct Option {
    std::uint32_t packed = 0;

    Option() = default;
    Option(SourceNumber source, Flag flag) : packed(source << 2 | static_cast<std::uint32_t>(flag)) {}
    SourceNumber source() const { return packed >> 2; }
    Flag flag() const { return static_cast<Flag>(packed & 3); }
    bool operator==(Option const&) const = default;
    // Whether every write that this option can stand for will do for R or for the same flag.
    bool within(Option o) const { return *this == o || (source() == o.source() && flag() == Flag::R); }
};

using ListNumber = std::uint32_t;
using OptionList = std::span<Option const>;

// Whether `a` is a subsequence of `b`.
inline bool is_subsequence(OptionList a, OptionList b) {
    if (a.size() > b.size()) return false;
    std::size_t n = 0;
    for (auto option : b) {
        if (n == a.size()) return true;
        if (a[n].within(option)) ++n;
    }
    return n == a.size();
}

// The lists met, and what steps backwards make of them.
class OptionLists {
  public:
    explicit OptionLists(Sources const& sources) : sources_(sources) {}

    OptionList operator[](ListNumber n) const {
        return {options_.data() + ranges_[n].begin, ranges_[n].length};
    }
    ListNumber number(OptionList list);
    ListNumber number(std::initializer_list<Option> list) {
        return number(OptionList(list.begin(), list.size()));
    }

    bool is_on(Option option, std::uint32_t cell) const { return sources_[option.source()].cell == cell; }
    std::size_t on_cell(ListNumber list, std::uint32_t cell) const;

    // How many of the last options on the cell can be from the write `source`; and how many must be, since
    // one of them asks for the last write.
    std::size_t taken_at_most(ListNumber list, std::uint32_t cell, SourceNumber source) const;
    std::size_t taken_at_least(ListNumber list, std::uint32_t cell) const;

    // The list less its last `taken` options on the cell; S becomes R in those that are left.
    ListNumber without(ListNumber list, std::uint32_t cell, std::size_t taken);
    // What follows the first of the last `taken` options on the cell, less those on the cell.
    ListNumber justification(ListNumber list, std::uint32_t cell, std::size_t taken);
    ListNumber preceded(Option option, ListNumber list);

    std::size_t bytes() const {
        return options_.capacity() * sizeof(Option) + ranges_.capacity() * sizeof(Range) +
               slots_.capacity() * 4;
    }

  private:
    struct Range {
        std::size_t begin;
        std::uint32_t length;
        std::uint32_t hash;
    };

    void grow();

    Sources const& sources_;
    std::vector<Option> scratch_;
    std::vector<Option> options_;
    std::vector<Range> ranges_;
    std::vector<std::uint32_t> slots_;  // list + 1 by hash, 0 where empty
};

// The potential of one thread. No list at all stands for the empty one.
using Potential = std::vector<ListNumber>;

// Drops lists that are subsequences of others, and the empty one.
void keep_longest(Potential& potential, OptionLists const& lists);

// A state of the backward search: where each thread stands, in which phase the search is (coverability.hpp),
// and the potentials of the threads, of the observer of the final memory, and of the SC fences.
struct PotentialState {
    std::vector<std::uint32_t> nodes;   // per thread, then the phase
    std::vector<Potential> potentials;  // per thread, then of the observer and of the fences

    std::uint32_t threads() const { return static_cast<std::uint32_t>(nodes.size() - 1); }
    std::uint32_t phase() const { return nodes.back(); }
    void set_phase(std::uint32_t phase) { nodes.back() = phase; }
    Potential& observer() { return potentials[threads()]; }
    Potential& fences() { return potentials[threads() + 1]; }
};

}  // namespace fencepost
