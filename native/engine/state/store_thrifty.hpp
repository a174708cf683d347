// A store that tells states apart bit by bit, and changes over to less memory while it grows.
//
// States are kept as they are until a part of the memory limit is used. From then on they are moved, some
// with each state that is put in, into a compressed store, where they get the numbers that they had. When
// none is left, the old store is given up. If they do not fit there, they stay where they are.
#pragma once

#include <optional>
#include <type_traits>

#include "engine/state/store_compressed.hpp"

namespace fencepost {

template <class Plain>
class ThriftyStoreOf {
  public:
    // `more` is for the plain store.
    template <class... More>
    ThriftyStoreOf(std::size_t words, std::size_t key_words, std::size_t most_bytes, bool may_compress,
                   More... more)
        : words_(words), key_words_(key_words), most_bytes_(most_bytes), may_compress_(may_compress) {
        plain_.emplace(words, key_words, most_bytes, more...);
    }

    std::uint64_t hash(Word const* state) const { return hash_words(state, words_); }
    [[gnu::always_inline]] void prefetch_slot(std::uint64_t hash) const {
        if (plain_) plain_->prefetch_slot(hash);
    }
    [[gnu::always_inline]] auto prefetch_state(std::uint64_t hash) const {
        if constexpr (std::is_void_v<decltype(plain_->prefetch_state(hash))>) {
            if (plain_) plain_->prefetch_state(hash);
        } else {
            return plain_ ? plain_->prefetch_state(hash) : no_state;
        }
    }
    // False also for a state that is in less memory meanwhile.
    bool is_state(StateNumber n, Word const* state) const { return plain_ && plain_->is_state(n, state); }
    bool insert(Word const* state, std::uint64_t hash, Origin origin) {
        auto const number = size();
        return put(state, hash, origin) == number;
    }
    StateNumber put(Word const* state, std::uint64_t hash, Origin origin) {
        if (!plain_) return compressed_->put(state, hash, origin);
        auto const number = plain_->put(state, hash, origin);
        if (compressed_) {
            move_some();
        } else if (may_compress_ && plain_->memory().used() > most_bytes_ / 2) {
            compress();
        }
        return number;
    }
    bool load(StateNumber n, Word* state) const {
        return plain_ ? plain_->load(n, state) : compressed_->load(n, state);
    }
    Origin origin(StateNumber n) const { return plain_ ? plain_->origin(n) : compressed_->origin(n); }
    std::size_t elements(Word const*) const { return 0; }
    std::size_t size() const { return plain_ ? plain_->size() : compressed_->size(); }

    std::size_t bytes() const {
        return (plain_ ? plain_->memory().used() : 0) + (compressed_ ? compressed_->memory().used() : 0);
    }
    std::size_t peak_bytes() const { return std::max(peak_bytes_, bytes()); }

    // The states as they are, while there are any. Who stores some more there says so by `move_for`.
    Plain* plain() { return plain_ ? &*plain_ : nullptr; }
    void move_for(std::size_t stored) {
        for (std::size_t i = 0; i < stored && plain_ && compressed_; ++i) move_some();
    }

    // Begins to move states, if that is allowed and was not done yet.
    void compress() {
        if (!may_compress_ || compressed_ || !plain_) return;
        may_compress_ = false;
        try {
            compressed_.emplace(words_, key_words_, plain_->memory().left());
        } catch (OutOfMemory const&) {
            return;
        }
        moved_.resize(words_);
        compressed_after_ = plain_->size();
    }
    // Moves all that are left.
    void finish() {
        while (plain_ && compressed_) move_some();
    }
    // How many states there were when they were compressed, if they were.
    std::optional<std::uint64_t> compressed_after() const { return compressed_after_; }

  private:
    static constexpr std::size_t moved_at_a_time = 16;

    [[gnu::noinline]] void move_some() {
        try {
            for (std::size_t i = 0; i < moved_at_a_time && compressed_->size() < plain_->size(); ++i) {
                auto const n = static_cast<StateNumber>(compressed_->size());
                plain_->load(n, moved_.data());
                compressed_->put(moved_.data(), 0, plain_->origin(n));
            }
        } catch (OutOfMemory const&) {
            compressed_.reset();
            compressed_after_.reset();
            return;
        }
        peak_bytes_ = std::max(peak_bytes_, bytes());
        if (compressed_->size() < plain_->size()) return;
        plain_.reset();
        compressed_->allow(most_bytes_);
    }

    std::size_t words_, key_words_, most_bytes_;
    bool may_compress_;
    std::optional<Plain> plain_;
    std::optional<CompressedStore> compressed_;
    std::vector<Word> moved_;
    std::size_t peak_bytes_ = 0;
    std::optional<std::uint64_t> compressed_after_;
};

using ThriftyStore = ThriftyStoreOf<ExactStore>;

}  // namespace fencepost
