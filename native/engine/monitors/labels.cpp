#include "engine/monitors/labels.hpp"

#include <algorithm>

namespace fencepost {

namespace {

// All of an event in a word.
std::uint64_t packed(MonitorEvent const& e) {
    std::uint64_t word = static_cast<std::uint64_t>(e.kind);
    word = word << 8 | e.thread;
    word = word << 16 | e.cell;
    word = word << 12 | (e.old.plain + 1);  // 0: none
    word = word << 12 | (e.old.free + 1);
    return word << 6 | static_cast<std::uint64_t>(e.acquire) << 5 |
           static_cast<std::uint64_t>(e.release) << 4 | static_cast<std::uint64_t>(e.sc) << 3 |
           static_cast<std::uint64_t>(e.fences);
}

// With a: C = A, and r: R = C, the sequences aa, rr, ara and rar have the effects of a, r, ar and ar. After
// an SC fence what is known now, pending and released is the same, as it would be had other fences come
// before.
MonitorEvent::Fences then(MonitorEvent::Fences first, MonitorEvent::Fences second) {
    using enum MonitorEvent::Fences;
    if (first == sc || second == sc) return sc;
    if (first == acquire) return second == acquire ? acquire : acquire_release;
    if (first == acquire_release) return acquire_release;
    if (first == release_acquire) return second == acquire ? release_acquire : acquire_release;
    if (second == release || second == acquire_release) return second;
    return release_acquire;
}

}  // namespace

LabelNumber Labels::append(LabelNumber label, MonitorEvent event) {
    using enum MonitorEvent::Kind;
    auto const& last = entries_[label].last;
    if (label != nothing && event.kind == fence && last.kind == fence) {
        event.fences = then(last.fences, event.fences);
        label = entries_[label].before;
    }
    auto const [at, is_new] =
        numbers_.try_emplace({label, packed(event)}, static_cast<LabelNumber>(entries_.size()));
    if (is_new) entries_.push_back({label, event});
    return at->second;
}

std::optional<MonitorEvent> Labels::first(LabelNumber label) const {
    if (label == nothing) return std::nullopt;
    while (entries_[label].before != nothing) label = entries_[label].before;
    return entries_[label].last;
}

std::vector<MonitorEvent> Labels::events(LabelNumber label) const {
    std::vector<MonitorEvent> all;
    for (; label != nothing; label = entries_[label].before) all.push_back(entries_[label].last);
    std::reverse(all.begin(), all.end());
    return all;
}

}  // namespace fencepost
