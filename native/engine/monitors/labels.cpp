#include "engine/monitors/labels.hpp"

#include <algorithm>

namespace fencepost {

// With a: C = A, and r: R = C, the sequences aa, rr, ara and rar have the effects of a, r, ar and ar.
Told::Fences then(Told::Fences first, Told::Fences second) {
    using enum Told::Fences;
    if (first == acquire) return second == acquire ? acquire : acquire_release;
    if (first == acquire_release) return acquire_release;
    if (first == release_acquire) return second == acquire ? release_acquire : acquire_release;
    if (second == release || second == acquire_release) return second;
    return release_acquire;
}

LabelNumber Labels::append(LabelNumber label, Told told) {
    auto const& last = entries_[label].last;
    if (label != nothing && told.kind == Told::Kind::fence && last.kind == Told::Kind::fence) {
        told.fences = then(last.fences, told.fences);
        label = entries_[label].before;
    }
    auto const [at, is_new] =
        numbers_.try_emplace({label, told.packed()}, static_cast<LabelNumber>(entries_.size()));
    if (is_new) entries_.push_back({label, told});
    return at->second;
}

std::optional<Told> Labels::first(LabelNumber label) const {
    if (label == nothing) return std::nullopt;
    while (entries_[label].before != nothing) label = entries_[label].before;
    return entries_[label].last;
}

std::vector<Told> Labels::told(LabelNumber label) const {
    std::vector<Told> all;
    for (; label != nothing; label = entries_[label].before) all.push_back(entries_[label].last);
    std::reverse(all.begin(), all.end());
    return all;
}

}  // namespace fencepost
