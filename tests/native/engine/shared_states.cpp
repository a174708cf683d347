// States that several threads put into one table at the same time: each is stored once, whole, and found
// again after the table has grown; and a search by several workers that begins with a small table.
//
// links: engine/state/store.cpp engine/state/shared_states.cpp
#include "engine/state/shared_states.hpp"

#include <map>
#include <set>
#include <thread>

#include "engine/search/bag.hpp"
#include "engine/search/meeting.hpp"
#include "tests/native/bytecode_input.hpp"
#include "tests/native/check.hpp"

using namespace fencepost;

namespace {

constexpr std::size_t workers = 4;
constexpr std::size_t plenty = std::size_t{1} << 28;
using State = std::vector<Word>;

// State number i, which all threads make alike.
State state_of(std::uint32_t i, std::size_t words) {
    State state(words);
    for (std::size_t w = 0; w < words; ++w) state[w] = hash_words(state.data(), w) + (w == 0 ? i : 0);
    return state;
}

struct Put {
    StateNumber number;
    std::uint32_t state;
};

// Puts in all states from a random one on, half of them twice; returns those that were new.
std::vector<Put> put_all(SharedStates& states, Meeting& meeting, std::uint32_t count, std::size_t words,
                         std::uint32_t worker, bool same_hash) {
    Chance chance(worker);
    std::vector<Put> added;
    SharedStates::Block block;
    auto const grow = [&] {
        meeting.attend([&] { states.begin_growing(); });
        states.move_entries();
        meeting.attend([] {});
    };
    auto const put = [&](std::uint32_t i) {
        if (meeting.is_called()) grow();
        if (block.is_empty()) {
            states.reserve(block);
            while (!states.has_room()) {
                meeting.call();
                grow();
            }
        }
        auto const state = state_of(i, words);
        // At the end of the table, and with the same bits of the hash.
        auto const hash = same_hash ? UINT64_MAX : states.hash(state.data());
        states.prefetch_state(hash);
        auto const n = states.insert(state.data(), hash, {i, worker, i & 0xff}, block);
        if (n != no_state) added.push_back({n, i});
    };
    auto const first = chance.below(count);
    for (std::uint32_t k = 0; k < count; ++k) {
        put((first + k) % count);
        if (chance.one_in(2)) put(chance.below(count));
    }
    meeting.leave();
    return added;
}

void threads_store_each_state_once(std::uint32_t count, std::size_t words, SharedStates::Sizes sizes,
                                   bool same_hash) {
    SharedStates states(words, plenty, sizes);
    Meeting meeting(workers);
    std::vector<std::vector<Put>> added(workers);
    {
        std::vector<std::jthread> threads;
        for (std::uint32_t n = 0; n < workers; ++n)
            threads.emplace_back([&, n] { added[n] = put_all(states, meeting, count, words, n, same_hash); });
    }
    std::set<StateNumber> numbers;
    std::set<std::uint32_t> known;
    State loaded(words);
    for (std::uint32_t worker = 0; worker < workers; ++worker) {
        for (auto const& [n, i] : added[worker]) {
            CHECK(n < states.numbers() && numbers.insert(n).second && known.insert(i).second);
            states.load(n, loaded.data());
            CHECK(loaded == state_of(i, words));
            auto const origin = states.origin(n);
            CHECK(origin.parent == i && origin.thread == worker && origin.choice == (i & 0xff));
        }
    }
    CHECK(known.size() == count);
}

void a_table_ends_at_its_memory_limit() {
    CHECK(throws<OutOfMemory>([] {
        SharedStates states(4, std::size_t{1} << 20, {64, 16});
        for (std::uint32_t i = 0;;) {
            SharedStates::Block block;
            states.reserve(block);
            if (!states.has_room()) {
                states.begin_growing();
                states.move_entries();
            }
            CHECK(states.memory().used() <= std::size_t{1} << 20);
            for (; !block.is_empty(); ++i) {
                auto const state = state_of(i, 4);
                CHECK(states.insert(state.data(), states.hash(state.data()), {}, block) != no_state);
            }
        }
    }));
}

// Workers make two states of each number up to a bound, and take what others give.
void a_bag_is_empty_when_the_search_is_over(std::uint32_t count) {
    Bag bag(workers);
    std::atomic<std::uint32_t> done = 0;
    std::vector<std::jthread> threads;
    for (std::uint32_t worker = 0; worker < workers; ++worker) {
        threads.emplace_back([&, worker] {
            Bag::Portion own, taken;
            if (worker == 0) own = {1};
            while (true) {
                while (!own.empty()) {
                    auto const n = own.back();
                    own.pop_back();
                    ++done;
                    for (auto const next : {2 * n, 2 * n + 1}) {
                        if (next <= count) own.push_back(next);
                    }
                    if (bag.is_wanted() && own.size() > 1) {
                        bag.put({own.front()});
                        own.erase(own.begin());
                    }
                }
                bool found = bag.take_or_rest(taken);
                while (!found && !bag.is_over()) {
                    std::this_thread::yield();
                    found = bag.take_and_work(taken);
                }
                if (!found) return;
                own = taken;
            }
        });
    }
    threads.clear();
    CHECK(done == count && bag.portions().empty());
}

}  // namespace

int main() {
    for (std::size_t words : {1, 2, 5}) {
        threads_store_each_state_once(20'000, words, {16, 1}, false);
        threads_store_each_state_once(20'000, words, {1 << 16, 1 << 10}, false);
        threads_store_each_state_once(300, words, {16, 4}, true);
    }
    a_table_ends_at_its_memory_limit();
    a_bag_is_empty_when_the_search_is_over(100'000);
}
