// A map from short rows of words, all of the same length.
#pragma once

#include <deque>
#include <vector>

#include "engine/state/field.hpp"

namespace fencepost {

template <class T>
class WordMap {
  public:
    explicit WordMap(std::size_t length) : length_(length), slots_(64) {}

    // Nothing if the row is not known yet.
    T* find(Word const* row) const {
        // Rows of one word have different hashes, since the factor is odd. Mostly they are where they belong.
        if (length_ == 1) {
            auto const hash = row[0] * factor;
            auto const& slot = slots_[home(hash)];
            if (slot.hash == hash && slot.entry != nullptr) return &slot.entry->value;
        }
        return find_slowly(row);
    }
    // For a row that is not known yet.
    T& add(Word const* row) {
        entries_.push_back({{row, row + length_}, T()});
        if (entries_.size() * 8 > slots_.size()) {
            slots_.assign(slots_.size() * 2, Slot());
            mask_ = slots_.size() - 1;
            for (auto& entry : entries_) enter(entry);
        } else {
            enter(entries_.back());
        }
        return entries_.back().value;
    }

  private:
    struct Entry {
        std::vector<Word> row;
        T value;
    };
    struct Slot {
        Word hash = 0;
        Entry* entry = nullptr;
    };

    static constexpr Word factor = 0xd6e8feb86659fd93u;

    [[gnu::noinline]] T* find_slowly(Word const* row) const {
        auto const hash = hash_of(row);
        for (auto at = home(hash); slots_[at].entry != nullptr; at = (at + 1) & mask_) {
            if (slots_[at].hash == hash && same_words(slots_[at].entry->row.data(), row, length_))
                return &slots_[at].entry->value;
        }
        return nullptr;
    }
    Word hash_of(Word const* row) const {
        Word hash = 0;
        for (std::size_t i = 0; i < length_; ++i) hash = (hash ^ row[i]) * factor;
        return hash;
    }
    std::size_t home(Word hash) const { return static_cast<std::size_t>(hash >> 32) & mask_; }
    void enter(Entry& entry) {
        auto const hash = hash_of(entry.row.data());
        auto at = home(hash);
        while (slots_[at].entry != nullptr) at = (at + 1) & mask_;
        slots_[at] = {hash, &entry};
    }

    std::size_t length_;
    std::deque<Entry> entries_;  // which never move
    std::vector<Slot> slots_;    // a power of two
    std::size_t mask_ = 63;
};

}  // namespace fencepost
