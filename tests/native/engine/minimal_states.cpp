// The minimal states of a forward search against a plain list.
//
// links: engine/safety/minimal_states.cpp engine/state/store.cpp
#include "engine/safety/minimal_states.hpp"

#include <vector>

#include "tests/native/check.hpp"

using namespace fencepost;

namespace {

struct Met {
    std::vector<std::uint8_t> key, numbers;
    StateNumber parent;
    std::uint32_t thread;
    bool minimal;
};

bool is_at_most(std::vector<std::uint8_t> const& a, std::vector<std::uint8_t> const& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] > b[i]) return false;
    }
    return true;
}

void keeps_what_is_above_no_other(std::uint64_t seed) {
    Chance chance(seed);
    MinimalStates states;
    std::vector<Met> all;
    auto const numbers_per_key = chance.below(6);  // with a longer key, more of them
    for (int i = 0; i < 800; ++i) {
        Met met;
        met.key.resize(1 + chance.below(12));
        for (auto& k : met.key) k = static_cast<std::uint8_t>(chance.below(2));
        met.numbers.resize(numbers_per_key + met.key.size() % 2);
        for (auto& n : met.numbers) n = static_cast<std::uint8_t>(chance.below(6));
        met.parent = static_cast<StateNumber>(chance.word());
        met.thread = chance.below(256);
        met.minimal = true;
        bool is_above = false;
        for (auto const& m : all)
            is_above = is_above || (m.minimal && m.key == met.key && is_at_most(m.numbers, met.numbers));
        CHECK(states.add(met.key, met.numbers, met.parent, met.thread) == !is_above);
        if (is_above) continue;
        for (auto& m : all) {
            if (m.key == met.key && is_at_most(met.numbers, m.numbers)) m.minimal = false;
        }
        all.push_back(met);
        CHECK(states.size() == all.size());
    }
    for (StateNumber n = 0; n < all.size(); ++n) {
        auto const& m = all[n];
        CHECK(states.is(n, m.key, m.numbers));
        CHECK(states.parent(n) == m.parent && states.thread(n) == m.thread);
        CHECK(states.is_minimal(n) == m.minimal);
        CHECK(std::equal(m.key.begin(), m.key.end(), states.key(n)));
        CHECK(std::equal(m.numbers.begin(), m.numbers.end(), states.numbers(n)));
    }
}

}  // namespace

int main() {
    for (std::uint64_t seed = 0; seed < 30; ++seed) keeps_what_is_above_no_other(seed);
}
