// The states of a graph, which one worker stores one by one, or several workers many at a time.
//
// States stand in one array, in the order of their numbers. The table of their numbers is cut into shards by
// hash. Several workers store a round of states in four steps; what is written in one step is read in later
// ones only, so no two workers ever use the same memory at the same time unless all of them read it.
//
// 1. The states of each batch are sorted by shard.
// 2. In each shard, the states are looked up in their order. One that is new gets a temporary number, which
//    says where in the round it is.
// 3. In each batch, the new states are counted. So it is known which number the first of each batch gets.
// 4. Each batch writes its new states, and their numbers into the table.
//
// So a state gets the number that it would get if all were stored one by one.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <span>
#include <vector>

#include "engine/machine/machine.hpp"
#include "engine/state/store.hpp"

namespace fencepost {

// Some states, in order, that are stored in one round with other batches.
class GraphBatch {
  private:
    friend class GraphStates;
    struct Sorted {
        std::uint64_t hash;
        std::uint32_t state;
    };
    struct Found {
        StateNumber number;   // temporary, or counted from 0 on, if the state is new
        std::uint32_t place;  // in the table, if it is new
    };
    StateList* states_ = nullptr;
    Origin const* origins_ = nullptr;
    std::vector<std::uint64_t> hashes_;
    std::vector<Sorted> sorted_;
    std::vector<std::uint32_t> ends_;  // in `sorted_`, per shard
    std::vector<Found> found_;         // per state
    StateNumber first_new_ = 0;
    std::uint32_t new_states_ = 0;
};

class GraphStates {
  public:
    GraphStates(std::size_t words, std::size_t, std::size_t most_bytes, std::size_t shards)
        : words_(words), memory_(most_bytes), states_(memory_, words + 1) {
        for (std::size_t n = 0; n < shards; ++n) tables_.push_back(std::make_unique<Table>(memory_));
    }

    std::size_t size() const { return states_.size(); }
    bool load(StateNumber n, Word* state) const {
        copy_words(state, states_[n], words_);
        return true;
    }
    Origin origin(StateNumber n) const { return as_origin(states_[n][words_]); }
    std::uint64_t hash(Word const* state) const { return hash_words(state, words_); }
    MemoryBudget const& memory() const { return memory_; }

    // For one worker: the number of the state, new or not.
    StateNumber put(Word const* state, std::uint64_t hash, Origin origin) {
        auto& table = table_of(hash);
        table.reserve_one();
        auto const same = [&](StateNumber n) { return same_words(states_[n], state, words_); };
        if (auto const known = table.find(hash, same); known != no_state) return known;
        auto const number = static_cast<StateNumber>(size());
        write(states_.append(), state, origin);
        table.add(hash, number);
        return number;
    }
    [[gnu::always_inline]] void prefetch_slot(std::uint64_t hash) const { table_of(hash).prefetch(hash); }
    [[gnu::always_inline]] void prefetch_state(std::uint64_t hash) const {
        prefetch_likely(table_of(hash), hash);
    }

    // Step 1, for each batch. The states and origins must stay as they are until the end of the round.
    void sort(GraphBatch& batch, StateList& states, Origin const* origins, std::size_t count) const {
        batch.states_ = &states;
        batch.origins_ = origins;
        batch.hashes_.resize(count);
        batch.sorted_.resize(count);
        batch.found_.resize(count);
        batch.ends_.assign(shards() + 1, 0);
        for (std::size_t i = 0; i < count; ++i) {
            batch.hashes_[i] = hash(states[i]);
            ++batch.ends_[shard_of(batch.hashes_[i]) + 1];
        }
        for (std::size_t shard = 1; shard < shards(); ++shard) batch.ends_[shard] += batch.ends_[shard - 1];
        for (std::size_t i = 0; i < count; ++i) {
            auto const to = batch.ends_[shard_of(batch.hashes_[i])]++;
            batch.sorted_[to] = {batch.hashes_[i], static_cast<std::uint32_t>(i)};
        }
    }

    // Then, for one worker: takes all batches of the round, which stay where they are.
    void begin(std::vector<GraphBatch*> batches) {
        batches_ = std::move(batches);
        known_ = static_cast<StateNumber>(size());
        std::size_t most = 1;
        for (auto const* batch : batches_) most = std::max(most, batch->found_.size());
        shift_ = static_cast<unsigned>(std::bit_width(most - 1));
        if (known_ + (batches_.size() << shift_) >= no_state) throw OutOfMemory("no more numbers");
    }

    // Step 2, for each shard.
    std::size_t shards() const { return tables_.size(); }
    void look_up(std::size_t shard) {
        auto& table = tables_[shard]->table;
        std::size_t count = 0;
        for (auto const* batch : batches_) count += sorted(*batch, shard).size();
        table.reserve(count);
        // In passes, as in explorer.hpp.
        for (std::size_t b = 0; b < batches_.size() + 2; ++b) {
            if (b < batches_.size()) {
                for (auto const& [hash, i] : sorted(*batches_[b], shard)) {
                    table.prefetch(hash);
                    __builtin_prefetch((*batches_[b]->states_)[i]);
                }
            }
            if (b >= 1 && b - 1 < batches_.size()) {
                for (auto const& [hash, i] : sorted(*batches_[b - 1], shard)) prefetch_likely(table, hash);
            }
            if (b >= 2) look_up(table, shard, b - 2);
        }
    }

    // Step 3, for each batch.
    void count_new(GraphBatch& batch) const {
        batch.new_states_ = 0;
        for (auto& found : batch.found_) {
            if (found.place != is_known) found.number = batch.new_states_++;
        }
    }

    // Then, for one worker.
    void make_room() {
        std::size_t count = 0;
        for (auto* batch : batches_) {
            batch->first_new_ = static_cast<StateNumber>(known_ + count);
            count += batch->new_states_;
        }
        states_.append_many(count);
    }

    // Step 4, for each batch.
    void write_new(GraphBatch& batch) {
        for (std::size_t i = 0; i < batch.found_.size(); ++i) {
            auto const& found = batch.found_[i];
            if (found.place == is_known) continue;
            auto const number = batch.first_new_ + found.number;
            write(states_[number], (*batch.states_)[i], batch.origins_[i]);
            table_of(batch.hashes_[i]).renumber(found.place, number);
        }
    }
    // After step 3: the number of state i, new or not.
    StateNumber number(GraphBatch const& batch, std::size_t i) const {
        auto const& found = batch.found_[i];
        if (found.place != is_known) return batch.first_new_ + found.number;
        if (found.number < known_) return found.number;
        auto const [b, same] = in_round(found.number);
        return batches_[b]->first_new_ + batches_[b]->found_[same].number;
    }

  private:
    static constexpr std::uint32_t is_known = UINT32_MAX;  // instead of a place

    // Workers add to different tables at the same time.
    struct alignas(64) Table {
        explicit Table(MemoryBudget& memory) : table(memory) {}
        HashTable table;
    };

    // The bits that do not decide the slot in a table.
    std::size_t shard_of(std::uint64_t hash) const { return (hash & UINT32_MAX) * tables_.size() >> 32; }
    HashTable& table_of(std::uint64_t hash) const { return tables_[shard_of(hash)]->table; }
    [[gnu::always_inline]] void prefetch_likely(HashTable const& table, std::uint64_t hash) const {
        if (auto const number = table.likely(hash); number < size()) __builtin_prefetch(states_[number]);
    }
    void write(Word* to, Word const* state, Origin origin) const {
        copy_words(to, state, words_);
        to[words_] = as_word(origin);
    }

    static std::span<GraphBatch::Sorted const> sorted(GraphBatch const& batch, std::size_t shard) {
        auto const first = shard == 0 ? 0 : batch.ends_[shard - 1];
        return std::span(batch.sorted_).subspan(first, batch.ends_[shard] - first);
    }
    // Temporary numbers follow those of the states known before the round.
    StateNumber temporary(std::size_t batch, std::size_t state) const {
        return static_cast<StateNumber>(known_ + (batch << shift_) + state);
    }
    std::pair<std::size_t, std::size_t> in_round(StateNumber temporary) const {
        auto const n = temporary - known_;
        return {n >> shift_, n & ((std::size_t{1} << shift_) - 1)};
    }
    void look_up(HashTable& table, std::size_t shard, std::size_t number) {
        auto& batch = *batches_[number];
        for (auto const& [hash, i] : sorted(batch, shard)) {
            Word const* const state = (*batch.states_)[i];
            auto const same = [&](StateNumber n) {
                if (n < known_) return same_words(states_[n], state, words_);
                auto const [b, other] = in_round(n);
                return same_words((*batches_[b]->states_)[other], state, words_);
            };
            auto const found = table.find(hash, same);
            if (found != no_state) {
                batch.found_[i] = {found, is_known};
            } else {
                table.add(hash, temporary(number, i));
                batch.found_[i] = {0, static_cast<std::uint32_t>(table.last_place())};
            }
        }
    }

    std::size_t words_;
    MemoryBudget memory_;
    Arena states_;                                // the words of the state, then its origin
    std::vector<std::unique_ptr<Table>> tables_;  // per shard
    std::vector<GraphBatch*> batches_;            // of the round
    StateNumber known_ = 0;                       // how many states before the round
    unsigned shift_ = 0;                          // of a batch's number in a temporary one
};

}  // namespace fencepost
