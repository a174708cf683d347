// Packed states against arrays of plain values: fields, sets of bits, swaps of bits, and updates worked out
// beforehand.
//
// links: engine/state/layout.cpp
#include "engine/state/layout.hpp"

#include <stdexcept>
#include <vector>

#include "tests/native/check.hpp"

using namespace fencepost;

namespace {

using State = std::vector<Word>;

Word whole(unsigned bits) {
    return bits == 64 ? ~Word{0} : (Word{1} << bits) - 1;
}

State random_state(Chance& chance, std::size_t words) {
    State state(words);
    for (auto& word : state) word = chance.word();
    return state;
}

// Some random fields, one after the other; each piece of every word is in at most one of them.
std::vector<Field> random_fields(Chance& chance, Layout& layout, unsigned most_bits) {
    std::vector<Field> fields;
    State taken;
    for (int i = 0; i < 30; ++i) {
        unsigned const bits = 1 + chance.below(most_bits);
        auto const before = layout.words();
        bool const closes = chance.one_in(8);
        if (closes) layout.close_words();
        auto const field = layout.allocate(bits);
        CHECK(!closes || field.word >= before);
        CHECK(field.mask == whole(bits));
        CHECK(field.shift + bits <= 64);
        taken.resize(layout.words());
        CHECK((taken[field.word] & field.mask << field.shift) == 0);
        taken[field.word] |= field.mask << field.shift;
        fields.push_back(field);
    }
    return fields;
}

void fields_do_not_touch_each_other(std::uint64_t seed) {
    Chance chance(seed);
    Layout layout;
    auto const fields = random_fields(chance, layout, 64);
    State state(layout.words());
    std::vector<Word> values(fields.size());
    for (int i = 0; i < 500; ++i) {
        auto const n = chance.below(fields.size());
        Word const value = chance.word() & fields[n].mask;
        switch (chance.below(3)) {
            case 0:
                fields[n].set(state.data(), value);
                values[n] = value;
                break;
            case 1:
                fields[n].unite(state.data(), value);
                values[n] |= value;
                break;
            default:
                fields[n].intersect(state.data(), value);
                values[n] &= value;
        }
        for (std::size_t f = 0; f < fields.size(); ++f) CHECK(fields[f].get(state.data()) == values[f]);
    }
}

void fields_that_fit_share_a_word(std::uint64_t seed) {
    Chance chance(seed);
    Layout layout;
    (void)layout.allocate(1 + chance.below(64));
    std::vector<unsigned> sizes;
    for (unsigned left = 64; left > 0 && sizes.size() < 5;) {
        sizes.push_back(1 + chance.below(left));
        left -= sizes.back();
    }
    auto const fields = layout.allocate_together(sizes);
    CHECK(fields.size() == sizes.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
        CHECK(fields[i].word == fields[0].word);
        CHECK(fields[i].mask == whole(sizes[i]));
    }
}

void too_large_a_state_is_refused() {
    auto const fill = [] {
        Layout layout;
        for (int i = 0; i < 10'000'000; ++i) (void)layout.allocate(64);
    };
    CHECK(throws<std::invalid_argument>(fill));
}

void as_many_bits_as_the_largest_value_needs() {
    CHECK(bits_for(1) == 1);
    for (unsigned bits = 2; bits <= 64; ++bits) {
        CHECK(bits_for(Word{1} << (bits - 1)) == bits);
        CHECK(bits_for(whole(bits)) == bits);
    }
}

void swaps_exchange_pairs_of_bits(std::uint64_t seed) {
    struct Bit {
        Field field;
        unsigned number;
        Word mask() const { return Word{1} << number; }
        bool get(State const& state) const { return (field.get(state.data()) & mask()) != 0; }
    };
    Chance chance(seed);
    Layout layout;
    auto const fields = random_fields(chance, layout, 20);
    std::vector<bool> used(fields.size() * 64);
    std::vector<std::pair<Bit, Bit>> pairs;
    BitSwaps swaps;
    for (int i = 0; i < 40; ++i) {
        auto const a = chance.below(fields.size());
        auto const b = chance.below(fields.size());
        auto const p =
            static_cast<unsigned>(chance.below(static_cast<std::size_t>(std::popcount(fields[a].mask))));
        auto const q =
            static_cast<unsigned>(chance.below(static_cast<std::size_t>(std::popcount(fields[b].mask))));
        if (used[a * 64 + p] || used[b * 64 + q] || (a == b && p == q)) continue;
        used[a * 64 + p] = used[b * 64 + q] = true;
        pairs.push_back({{fields[a], p}, {fields[b], q}});
        for (auto times = 1 + chance.below(2); times > 0; --times)  // a pair may be given twice
            swaps.add(fields[a], Word{1} << p, fields[b], Word{1} << q);
    }
    auto const before = random_state(chance, layout.words());
    auto expected = before;
    for (auto const& [a, b] : pairs) {
        bool const was_a = a.get(before), was_b = b.get(before);
        a.field.set(expected.data(), (a.field.get(expected.data()) & ~a.mask()) | (was_b ? a.mask() : 0));
        b.field.set(expected.data(), (b.field.get(expected.data()) & ~b.mask()) | (was_a ? b.mask() : 0));
    }
    auto state = before;
    swaps.apply(state.data());
    CHECK(state == expected);
    swaps.apply(state.data());
    CHECK(state == before);
}

void permutations_move_bits(std::uint64_t seed) {
    Chance chance(seed);
    Layout layout;
    auto const fields = random_fields(chance, layout, 10);
    std::vector<std::pair<Field, Word>> bits;
    for (auto const& field : fields) {
        for (Word left = field.mask; left != 0; left &= left - 1) {
            if (chance.one_in(2)) bits.emplace_back(field, left & -left);
        }
    }
    auto to = bits;
    for (auto n = to.size(); n > 1; --n) std::swap(to[n - 1], to[chance.below(n)]);
    BitPermutation moves;
    for (std::size_t n = 0; n < bits.size(); ++n)
        moves.add(bits[n].first, bits[n].second, to[n].first, to[n].second);
    moves.finish();
    auto const before = random_state(chance, layout.words());
    auto expected = before;
    for (std::size_t n = 0; n < bits.size(); ++n) {
        bool const was_set = (bits[n].first.get(before.data()) & bits[n].second) != 0;
        auto const& [field, bit] = to[n];
        field.set(expected.data(), (field.get(expected.data()) & ~bit) | (was_set ? bit : 0));
    }
    auto state = before;
    moves.apply(state.data());
    CHECK(state == expected);
}

void swaps_exchange_fields(std::uint64_t seed) {
    Chance chance(seed);
    Layout layout;
    (void)layout.allocate(1 + chance.below(64));
    unsigned const bits = 1 + chance.below(64);
    auto const a = layout.allocate(bits), b = layout.allocate(bits);
    BitSwaps swaps;
    swaps.add(a, b);
    auto const before = random_state(chance, layout.words());
    auto state = before;
    swaps.apply(state.data());
    CHECK(a.get(state.data()) == b.get(before.data()) && b.get(state.data()) == a.get(before.data()));
    swaps.apply(state.data());
    CHECK(state == before);
}

// Random operations on sets: done on a state, on plain vectors of bits, and by an update made once and
// applied to several states.
void updates_do_what_sets_do(std::uint64_t seed) {
    Chance chance(seed);
    Layout layout;
    (void)layout.allocate(1 + chance.below(63));
    BitNumbering numbering;
    std::vector<BitNumbering::Bit> bits;
    for (auto count = 1 + chance.below(150); count > 0; --count) bits.push_back(numbering.next());
    SetArray const sets(layout, 5, numbering.piece_bits());
    CHECK(sets.count() == 5 && sets.pieces(0) == (bits.size() + 63) / 64);
    auto const has = [&](State const& state, std::size_t set, std::size_t n) {
        return (sets[set][bits[n].piece].get(state.data()) & bits[n].bit) != 0;
    };
    auto state = random_state(chance, layout.words());
    std::vector<std::vector<bool>> plain(sets.count(), std::vector<bool>(bits.size()));
    for (std::size_t s = 0; s < plain.size(); ++s) {
        for (std::size_t n = 0; n < bits.size(); ++n) plain[s][n] = has(state, s, n);
    }
    State updated = state, others = random_state(chance, layout.words());
    State others_directly = others;
    Update update;
    for (auto steps = 1 + chance.below(12); steps > 0; --steps) {
        std::size_t const to = chance.below(5), from = chance.below(5), n = chance.below(bits.size());
        BitSelection selection;
        selection.add(sets[to][bits[n].piece], bits[n].bit);
        auto const what = chance.below(5);
        auto const act = [&](auto& target) {
            if (what == 0) sets.copy(target, to, from);
            if (what == 1) sets.unite(target, to, from);
            if (what == 2) sets.intersect(target, to, from);
            if (what == 3) selection.set(target);
            if (what == 4) selection.clear(target);
        };
        auto* words = state.data();
        act(words);
        words = others_directly.data();
        act(words);
        act(update);
        auto const source = plain[from];
        for (std::size_t b = 0; b < bits.size(); ++b) {
            if (what == 0) plain[to][b] = source[b];
            if (what == 1) plain[to][b] = plain[to][b] || source[b];
            if (what == 2) plain[to][b] = plain[to][b] && source[b];
        }
        if (what >= 3) plain[to][n] = what == 3;
        CHECK(selection.any(state.data()) == plain[to][n]);
    }
    for (std::size_t s = 0; s < plain.size(); ++s) {
        for (std::size_t n = 0; n < bits.size(); ++n) CHECK(has(state, s, n) == plain[s][n]);
    }
    for (auto const& operation : update.operations()) {
        operation.apply(updated.data());
        operation.apply(others.data());
    }
    CHECK(updated == state);
    CHECK(others == others_directly);
}

}  // namespace

int main() {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        if (seed < 30) fields_do_not_touch_each_other(seed);
        fields_that_fit_share_a_word(seed);
        swaps_exchange_pairs_of_bits(seed);
        swaps_exchange_fields(seed);
        permutations_move_bits(seed);
        updates_do_what_sets_do(seed);
    }
    as_many_bits_as_the_largest_value_needs();
    too_large_a_state_is_refused();
}
