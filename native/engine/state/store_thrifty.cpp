#include "engine/state/store_thrifty.hpp"

namespace fencepost {

void ThriftyStore::compress() {
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

void ThriftyStore::move_some() {
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

}  // namespace fencepost
