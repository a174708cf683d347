// What an access does to the monitor of a state, worked out beforehand.
//
// Monitors speak of sets (layout.hpp). Which bits of which words these are depends on the access, never on
// the state. So the rules of a monitor can be run once for an access, on an `Update` in place of a state;
// applying it to a state then takes about one operation per word, without any test.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/state/field.hpp"

namespace fencepost {

// word `to` = (to & (keep | (s & allow))) | (s & add) | set, where s is word `from`, rotated. All that
// monitors do to sets has this form, so there are no cases to tell apart.
struct WordOperation {
    std::uint32_t to = 0, from = 0;
    int rotation = 0;
    Word keep = ~Word{0}, allow = 0, add = 0, set = 0;

    auto operator<=>(WordOperation const&) const = default;
    bool reads(std::uint32_t word) const { return from == word && (allow | add) != 0; }
    void apply(Word* state) const {
        Word const s = std::rotl(state[from], rotation);
        state[to] = (state[to] & (keep | (s & allow))) | (s & add) | set;
    }
};

class Update {
  public:
    void copy(Field const& to, Field const& from) {
        auto const bits = to.mask << to.shift;
        add(to, from, {.keep = ~bits, .add = bits});
    }
    void unite(Field const& to, Field const& from) { add(to, from, {.add = to.mask << to.shift}); }
    void intersect(Field const& to, Field const& from) {
        auto const bits = to.mask << to.shift;
        add(to, from, {.keep = ~bits, .allow = bits});
    }
    // If the word has been changed and not read since, both changes become one operation.
    void clear_and_set(std::uint32_t word, Word cleared, Word set) {
        for (auto o = operations_.rbegin(); o != operations_.rend(); ++o) {
            if (o->to == word) {
                o->keep &= ~cleared;
                o->allow &= ~cleared;
                o->add &= ~cleared;
                o->set = (o->set & ~cleared) | set;
                return;
            }
            if (o->reads(word)) break;
        }
        operations_.push_back({.to = word, .from = word, .keep = ~cleared, .set = set});
    }

    std::span<WordOperation const> operations() const { return operations_; }

  private:
    void add(Field const& to, Field const& from, WordOperation operation) {
        operation.to = to.word;
        operation.from = from.word;
        operation.rotation = static_cast<int>((to.shift - from.shift) & 63);
        operations_.push_back(operation);
    }

    std::vector<WordOperation> operations_;
};

inline void set_bits(Update& update, WordMask const& m) {
    update.clear_and_set(m.word, 0, m.bits);
}
inline void clear_bits(Update& update, WordMask const& m) {
    update.clear_and_set(m.word, m.bits, 0);
}

}  // namespace fencepost
