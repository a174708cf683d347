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

bool has_sc(MonitorEvent::Fences fences) {
    return fences >= MonitorEvent::Fences::sc;
}
bool has_acquire(MonitorEvent::Fences fences) {
    using enum MonitorEvent::Fences;
    return fences != release && fences != sc && fences != sc_release;
}
bool has_release(MonitorEvent::Fences fences) {
    using enum MonitorEvent::Fences;
    return fences != acquire && fences != sc && fences != acquire_sc;
}

// With a, r and s for the fences (rules.hpp):
//   s sets all that r sets        so rs has the effect of s;
//   after s, what t knows now is all that it knows pending
//                                 so sa has the effect of s;
//   a second s knows what was pending before the first, and its copies for relaxed writes have the K of the
//   first                         so ss has the effect of asr, and so has whatever follows ss.
MonitorEvent::Fences then_with_sc(MonitorEvent::Fences first, MonitorEvent::Fences second) {
    using enum MonitorEvent::Fences;
    bool const both = has_sc(first) && has_sc(second);
    bool const acquires = both || has_acquire(has_sc(first) ? first : second) ||
                          (!has_sc(first) && has_acquire(first));
    bool const releases = both || has_release(has_sc(second) ? second : first) ||
                          (!has_sc(second) && has_release(second));
    if (acquires) return releases ? acquire_sc_release : acquire_sc;
    return releases ? sc_release : sc;
}

// With a: C = A, and r: R = C, the sequences aa, rr, ara and rar have the effects of a, r, ar and ar.
MonitorEvent::Fences then(MonitorEvent::Fences first, MonitorEvent::Fences second) {
    using enum MonitorEvent::Fences;
    if (has_sc(first) || has_sc(second)) return then_with_sc(first, second);
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
