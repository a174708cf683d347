// Every store against a plain list of the states that were put into it.
//
// links: engine/state/layout.cpp engine/state/store.cpp engine/state/store_bitstate.cpp
// links: engine/state/store_compressed.cpp engine/state/packed_records.cpp engine/state/number_index.cpp
#include <map>
#include <optional>
#include <vector>

#include "engine/state/store.hpp"
#include "engine/state/store_bitstate.hpp"
#include "engine/state/store_compressed.hpp"
#include "engine/state/store_thrifty.hpp"
#include "engine/state/word_map.hpp"
#include "tests/native/check.hpp"

using namespace fencepost;

namespace {

using State = std::vector<Word>;
constexpr std::size_t plenty = std::size_t{1} << 30;

// Words that differ in few bits, so that states are met again and monitors include each other.
State random_state(Chance& chance, std::size_t words) {
    State state(words);
    for (auto& word : state) word = chance.word() & chance.word() & 0x8000'0100'0000'0003u;
    return state;
}

Origin random_origin(Chance& chance) {
    return {static_cast<StateNumber>(chance.word()), chance.below(256), chance.below(1 << 24)};
}

bool same(Origin const& a, Origin const& b) {
    return a.parent == b.parent && a.thread == b.thread && a.choice == b.choice;
}

struct Shape {
    std::size_t words, key_words;
};
constexpr Shape shapes[] = {{1, 1}, {2, 1}, {3, 2}, {5, 2}, {9, 1}};

// For stores that keep each different state.
template <class Store>
void keeps_each_state_once(std::uint64_t seed, Shape shape) {
    Chance chance(seed);
    Store store(shape.words, shape.key_words, plenty);
    std::map<State, StateNumber> numbers;
    std::vector<std::pair<State, Origin>> all;
    for (int i = 0; i < 1500; ++i) {
        auto const state = random_state(chance, shape.words);
        auto const origin = random_origin(chance);
        bool const is_new = numbers.try_emplace(state, static_cast<StateNumber>(all.size())).second;
        CHECK(store.insert(state.data(), store.hash(state.data()), origin) == is_new);
        if (is_new) all.emplace_back(state, origin);
        CHECK(store.size() == all.size());
    }
    State loaded(shape.words);
    for (StateNumber n = 0; n < all.size(); ++n) {
        CHECK(store.load(n, loaded.data()));
        CHECK(loaded == all[n].first);
        CHECK(same(store.origin(n), all[n].second));
    }
    if constexpr (requires { store.put(loaded.data(), 0, Origin{}); }) {
        for (auto const& [state, number] : numbers)
            CHECK(store.put(state.data(), store.hash(state.data()), {}) == number);
    }
}

// It is compressed from the first state on, and moves while others come. Wide states do not fit into what is
// left, and stay where they are.
struct SoonCompressed : ThriftyStore {
    SoonCompressed(std::size_t words, std::size_t key_words, std::size_t)
        : ThriftyStore(words, key_words, std::size_t{2} << 20, true) {}
};

void a_thrifty_store_moves_states(std::size_t words, bool before_the_next) {
    Chance chance(words);
    ThriftyStore store(words, words, plenty, true);
    std::vector<State> all;
    for (int i = 0; i < 3000; ++i) {
        auto const state = random_state(chance, words);
        if (i == 1000) store.compress();
        if (i == 1000 && before_the_next) store.finish();
        if (store.insert(state.data(), store.hash(state.data()), {no_state, 0, 0})) all.push_back(state);
        if (i == 1000) CHECK(store.compressed_after() && *store.compressed_after() <= all.size());
    }
    State loaded(words);
    for (StateNumber n = 0; n < all.size(); ++n) {
        CHECK(store.load(n, loaded.data()) && loaded == all[n]);
        CHECK(store.put(loaded.data(), store.hash(loaded.data()), {}) == n);
    }
    CHECK(store.peak_bytes() > store.bytes());
}

bool includes(State const& a, State const& b, std::size_t from) {
    for (auto i = from; i < a.size(); ++i) {
        if ((b[i] & ~a[i]) != 0) return false;
    }
    return true;
}

void keeps_maximal_monitors(std::uint64_t seed, Shape shape) {
    struct Met {
        State state;
        Origin origin;
        bool maximal;
    };
    Chance chance(seed);
    AntichainStore store(shape.words, shape.key_words, plenty);
    std::vector<Met> all;
    auto const same_key = [&](State const& a, State const& b) {
        return same_words(a.data(), b.data(), shape.key_words);
    };
    for (int i = 0; i < 1500; ++i) {
        auto state = random_state(chance, shape.words);
        for (std::size_t k = 0; k < shape.key_words; ++k) state[k] &= 0x8000'0000'0000'0001u;
        bool is_covered = false;
        for (auto const& met : all)
            is_covered = is_covered || (met.maximal && same_key(met.state, state) &&
                                        includes(met.state, state, shape.key_words));
        auto const origin = random_origin(chance);
        CHECK(store.insert(state.data(), store.hash(state.data()), origin) == !is_covered);
        if (!is_covered) {
            for (auto& met : all) {
                if (same_key(met.state, state) && includes(state, met.state, shape.key_words))
                    met.maximal = false;
            }
            all.push_back({state, origin, true});
        }
        CHECK(store.size() == all.size());
    }
    State loaded(shape.words);
    for (StateNumber n = 0; n < all.size(); ++n) {
        CHECK(same(store.origin(n), all[n].origin));
        CHECK(store.load(n, loaded.data()) == all[n].maximal);
        if (!all[n].maximal) continue;
        CHECK(loaded == all[n].state);
        std::size_t elements = 0;
        for (auto k = shape.key_words; k < shape.words; ++k)
            elements += static_cast<std::size_t>(std::popcount(loaded[k]));
        CHECK(store.elements(loaded.data()) == elements);
    }
}

// It may take a new state for a known one, but hardly ever with so many bits; never the other way round.
void forgets_states_once_they_are_loaded(std::uint64_t seed, Shape shape) {
    Chance chance(seed);
    BitstateStore store(shape.words, shape.key_words, plenty, {.seed = seed, .bits_bytes = 1 << 20});
    std::map<State, bool> met;
    std::vector<std::pair<State, Origin>> kept;
    std::size_t missed = 0;
    State loaded(shape.words);
    for (int i = 0; i < 1500; ++i) {
        auto const state = random_state(chance, shape.words);
        auto const origin = random_origin(chance);
        bool const is_new = met.try_emplace(state, true).second;
        bool const inserted = store.insert(state.data(), store.hash(state.data()), origin);
        CHECK(is_new || !inserted);
        if (inserted) kept.emplace_back(state, origin);
        if (is_new && !inserted) ++missed;
        CHECK(store.size() == kept.size());
    }
    CHECK(missed <= 3);
    CHECK(store.bits_used() > 0 && store.bits_used() < 0.01);
    while (!kept.empty()) {
        auto const n = chance.below(kept.size());
        auto const number = static_cast<StateNumber>(n);
        if (!kept[n].first.empty()) {
            CHECK(store.load(number, loaded.data()));
            CHECK(loaded == kept[n].first);
            kept[n].first.clear();
        }
        CHECK(same(store.origin(number), kept[n].second));
        while (!kept.empty() && kept.back().first.empty()) kept.pop_back();
    }
}

// Across several blocks, whose fields have different widths.
void packed_records_are_read_back(std::uint64_t seed, std::size_t fields) {
    Chance chance(seed);
    MemoryBudget budget(plenty);
    PackedRecords records(budget, fields);
    std::vector<Word> all;
    for (std::size_t n = 0; n < 20'000; ++n) {
        for (std::size_t f = 0; f < fields; ++f)
            all.push_back(chance.word() >> (f % 3 == 2 ? 62 - n / 5000 * 15 : f * 7 % 64) >> 1);
        records.append(std::span(all).last(fields));
        CHECK(records.size() == n + 1);
    }
    for (std::size_t i = 0; i < all.size(); ++i) CHECK(records.get(i / fields, i % fields) == all[i]);
}

void packed_origins_are_read_back(std::uint64_t seed) {
    Chance chance(seed);
    MemoryBudget budget(plenty);
    PackedOrigins packed(budget);
    std::vector<Origin> all;
    StateNumber parent = no_state;
    for (int i = 0; i < 20'000; ++i) {
        if (chance.one_in(3)) ++parent;
        if (chance.one_in(1000)) parent = static_cast<StateNumber>(chance.word());
        all.push_back(i % 100 == 0 ? random_origin(chance)
                                   : Origin{parent, chance.below(4), chance.below(2)});
        packed.append(all.back());
    }
    for (std::size_t n = 0; n < all.size(); ++n) CHECK(same(packed.get(n), all[n]));
    CHECK(packed.size() == all.size());
}

// Through sizes at which the table doubles, and at which it grows by a fifth.
void an_index_finds_what_was_added() {
    MemoryBudget budget(plenty);
    NumberIndex index(budget);
    auto const hash_of = [](std::uint32_t n) {
        Word const word = n;
        return hash_words(&word, 1);
    };
    constexpr std::uint32_t many = 2'500'000;
    for (std::uint32_t n = 0; n < many; ++n) {
        index.reserve_one(hash_of);
        CHECK(index.find(hash_of(n), [n](std::uint32_t other) { return other == n; }) == no_state);
        index.add(hash_of(n));
    }
    for (std::uint32_t n = 0; n < many; ++n)
        CHECK(index.find(hash_of(n), [n](std::uint32_t other) { return other == n; }) == n);
    CHECK(budget.used() < many * 6);
}

template <class Store>
void ends_at_its_memory_limit() {
    Chance chance(1);
    auto const fill = [&] {
        Store store(4, 2, std::size_t{8} << 20);
        for (int i = 0; i < 10'000'000; ++i) {
            State const state{chance.word(), chance.word(), chance.word(), chance.word()};
            store.insert(state.data(), store.hash(state.data()), {});
            CHECK(store.memory().used() <= std::size_t{8} << 20);
        }
    };
    CHECK(throws<OutOfMemory>(fill));
}

void word_maps_find_what_was_added(std::uint64_t seed, std::size_t length) {
    Chance chance(seed);
    WordMap<int> map(length);
    std::map<State, int> numbers;
    for (int i = 0; i < 500; ++i) {
        auto const row = random_state(chance, length);
        auto* const found = map.find(row.data());
        auto const [known, is_new] = numbers.try_emplace(row, i);
        CHECK((found == nullptr) == is_new);
        if (is_new) map.add(row.data()) = i;
        CHECK(*map.find(row.data()) == known->second);
    }
}

// Two arenas share a budget, and so the larger pieces that their blocks are cut from.
void arenas_do_not_overlap() {
    MemoryBudget budget(plenty);
    Arena words(budget, 3, 4096);
    ArenaOf<std::uint16_t> shorts(budget, 3, 4096);
    for (std::size_t n = 0; n < 300'000; ++n) {
        auto* const row = words.append();
        auto* const small = shorts.append();
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK(row[i] == 0 && small[i] == 0);
            row[i] = n + i;
            small[i] = static_cast<std::uint16_t>(n ^ i);
        }
    }
    for (std::size_t n = 0; n < 300'000; ++n) {
        for (std::size_t i = 0; i < 3; ++i)
            CHECK(words[n][i] == n + i && shorts[n][i] == static_cast<std::uint16_t>(n ^ i));
    }
    CHECK(budget.used() >= 300'000 * 3 * (sizeof(Word) + sizeof(std::uint16_t)));
    MemoryBudget little(10'000);
    Arena bounded(little, 1, 4096);
    bool refused = false;
    try {
        bounded.append_many(2'000);
    } catch (OutOfMemory const&) {
        refused = true;
    }
    CHECK(refused && little.used() <= 10'000);
}

}  // namespace

int main() {
    std::uint64_t seed = 0;
    for (auto const& shape : shapes) {
        for (int i = 0; i < 3; ++i, ++seed) {
            keeps_each_state_once<ExactStore>(seed, shape);
            keeps_each_state_once<CompressedStore>(seed, shape);
            keeps_each_state_once<SoonCompressed>(seed, shape);
            keeps_maximal_monitors(seed, shape);
            forgets_states_once_they_are_loaded(seed, shape);
            word_maps_find_what_was_added(seed, shape.words);
            packed_records_are_read_back(seed, shape.words);
        }
    }
    for (std::size_t words : {1, 2, 5}) {
        a_thrifty_store_moves_states(words, true);
        a_thrifty_store_moves_states(words, false);
    }
    packed_origins_are_read_back(seed);
    an_index_finds_what_was_added();
    arenas_do_not_overlap();
    ends_at_its_memory_limit<ExactStore>();
    ends_at_its_memory_limit<CompressedStore>();
    ends_at_its_memory_limit<AntichainStore>();
}
