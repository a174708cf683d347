#include "engine/safety/sra_messages.hpp"

#include <algorithm>

namespace fencepost {
namespace {

unsigned bytes_for(std::uint32_t count) {
    unsigned bytes = 1;
    while (bytes < 4 && (count - 1) >> (8 * bytes) != 0) ++bytes;
    return bytes;
}

void put(std::vector<std::uint8_t>& key, std::uint32_t number, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) key.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
}

std::uint32_t take(std::uint8_t const*& key, unsigned bytes) {
    std::uint32_t number = 0;
    for (unsigned i = 0; i < bytes; ++i) number |= std::uint32_t{*key++} << (8 * i);
    return number;
}

}  // namespace

SraMessages::SraMessages(ThreadGraphs const& graphs, NumberedLabels const& labels, SraNeeds const& needs)
    : labels_(labels),
      needs_(needs),
      threads_(static_cast<std::uint32_t>(graphs.threads.size())),
      cells_(labels.cells()),
      cell_(cells_),
      lowest_(cells_) {
    for (auto const& graph : graphs.threads)
        node_bytes_.push_back(bytes_for(static_cast<std::uint32_t>(graph.nodes.size())));
    for (std::uint32_t x = 0; x < cells_; ++x) value_bytes_.push_back(bytes_for(labels.values(x)));
}

SraState SraMessages::initial(std::vector<std::uint32_t> const& nodes) {
    SraState state;
    state.nodes = nodes;
    state.views.assign(threads_ * cells_, seen(0));
    for (std::uint32_t x = 0; x <= cells_; ++x) state.begin.push_back(x);
    for (std::uint32_t x = 0; x < cells_; ++x) state.messages.push_back({labels_.initial(x), threads_});
    state.message_views.assign(cells_ * cells_, seen(0));
    forget(state);
    return state;
}

// Steps.

void SraMessages::read(SraState const& state, Seen* view, std::uint32_t x, std::uint32_t j) const {
    if (view[x] != seen(j)) join(state, view, x, j);
}

void SraMessages::read_last(SraState const& state, Seen* view, std::uint32_t x) const {
    join(state, view, x, count(state, x) - 1);
}

void SraMessages::join(SraState const& state, Seen* view, std::uint32_t x, std::uint32_t j) const {
    auto const* const added = state.message_views.data() + (state.begin[x] + j) * cells_;
    for (std::uint32_t y = 0; y < cells_; ++y) view[y] = std::max(view[y], added[y]);
}

void SraMessages::write(SraState& state, std::uint32_t t, std::uint32_t x, std::uint32_t value) const {
    auto const index = state.begin[x + 1];
    auto* const view = state.views.data() + t * cells_;
    view[x] = seen(count(state, x));
    state.messages.insert(state.messages.begin() + index, {value, t});
    state.message_views.insert(state.message_views.begin() + index * cells_, view, view + cells_);
    for (auto y = x + 1; y <= cells_; ++y) ++state.begin[y];
}

// What can still matter.

void SraMessages::forget(SraState& state) {
    look_at_cells(state);
    if (find_stale(state)) {
        drop_stale(state);
        look_at_cells(state);
    }
    for (std::uint32_t t = 0; t < threads_; ++t) raise_thread(state, t);
    for (std::uint32_t x = 0; x < cells_; ++x) {
        for (std::uint32_t j = 0; j < count(state, x); ++j) raise_message(state, x, j);
    }
}

void SraMessages::look_at_cells(SraState const& state) {
    for (std::uint32_t x = 0; x < cells_; ++x) {
        CellNeeds cell;
        cell.top = cell.low = static_cast<Seen>(2 * count(state, x));
        cell.last = needs_.is_asked(x);
        for (std::uint32_t t = 0; t < threads_; ++t) {
            auto const node = state.nodes[t];
            if (needs_.reads(t, node, x)) cell.low = std::min(cell.low, state.views[t * cells_ + x]);
            cell.race = cell.race || needs_.races(t, node, x);
            cell.last = cell.last || needs_.modifies(t, node, x);
        }
        cell.last = cell.last || cell.race;
        cell_[x] = cell;
    }
}

// Whether some message can go; `stays_` says which ones do not.
bool SraMessages::find_stale(SraState const& state) {
    stays_.clear();
    for (std::uint32_t x = 0; x < cells_; ++x) {
        auto const messages = count(state, x);
        for (std::uint32_t j = 0; j < messages; ++j)
            stays_.push_back((j + 1 == messages && cell_[x].last) || is_readable(state, x, j));
    }
    return std::ranges::find(stays_, false) != stays_.end();
}

bool SraMessages::is_readable(SraState const& state, std::uint32_t x, std::uint32_t j) const {
    auto const value = message(state, x, j).value;
    for (std::uint32_t t = 0; t < threads_; ++t) {
        if (needs_.reads_value(t, state.nodes[t], x, value) && state.views[t * cells_ + x] <= seen(j))
            return true;
    }
    return false;
}

void SraMessages::drop_stale(SraState& state) {
    move_views(state);
    std::uint32_t kept = 0, index = 0;
    for (std::uint32_t x = 0; x < cells_; ++x) {
        auto const end = state.begin[x + 1];
        state.begin[x] = kept;
        for (; index < end; ++index) {
            if (!stays_[index]) continue;
            state.messages[kept] = state.messages[index];
            std::copy_n(state.message_views.begin() + index * cells_, cells_,
                        state.message_views.begin() + kept * cells_);
            ++kept;
        }
    }
    state.begin[cells_] = kept;
    state.messages.resize(kept);
    state.message_views.resize(kept * cells_);
}

template <class Each>
void SraMessages::each_row(SraState& state, Each each) const {
    for (std::uint32_t t = 0; t < threads_; ++t) each(state.views.data() + t * cells_);
    for (std::size_t m = 0; m < state.messages.size(); ++m) each(state.message_views.data() + m * cells_);
}

// Views of the messages that will be left.
void SraMessages::move_views(SraState& state) {
    moved_.clear();
    for (std::uint32_t x = 0; x < cells_; ++x) {
        Seen before = 0;  // twice the number of those that stay
        for (auto index = state.begin[x]; index < state.begin[x + 1]; ++index) {
            moved_.push_back(before);
            moved_.push_back(static_cast<Seen>(before + stays_[index]));
            before = static_cast<Seen>(before + 2 * stays_[index]);
        }
        moved_.push_back(before);
    }
    each_row(state, [&](Seen* view) {
        for (std::uint32_t x = 0; x < cells_; ++x) view[x] = moved_[2 * state.begin[x] + x + view[x]];
    });
}

// Every thread that reads x has seen what `low` says, so a lower view of x tells them nothing.
void SraMessages::raise(Seen* view) const {
    for (std::uint32_t x = 0; x < cells_; ++x) {
        if (!cell_[x].race) view[x] = std::max(view[x], cell_[x].low);
    }
}

void SraMessages::raise_thread(SraState& state, std::uint32_t t) const {
    auto* const view = state.views.data() + t * cells_;
    raise(view);
    if (tells_others(state, t)) return;
    auto const node = state.nodes[t];
    for (std::uint32_t x = 0; x < cells_; ++x) {
        if (!needs_.reads(t, node, x) && !needs_.races(t, node, x)) view[x] = cell_[x].top;
    }
}

// Whether t can write what another thread can read.
bool SraMessages::tells_others(SraState const& state, std::uint32_t t) const {
    for (std::uint32_t x = 0; x < cells_; ++x) {
        if (!needs_.writes(t, state.nodes[t], x)) continue;
        for (std::uint32_t u = 0; u < threads_; ++u) {
            if (u == t) continue;
            if (needs_.reads(u, state.nodes[u], x) || needs_.modifies(u, state.nodes[u], x)) return true;
        }
    }
    return false;
}

// Every thread that can still learn from the message knows what `lowest_` says.
void SraMessages::raise_message(SraState& state, std::uint32_t x, std::uint32_t j) {
    for (std::uint32_t y = 0; y < cells_; ++y) lowest_[y] = cell_[y].top;
    for (std::uint32_t t = 0; t < threads_; ++t) {
        if (!tells(state, x, j, t)) continue;
        auto const* const view = state.views.data() + t * cells_;
        for (std::uint32_t y = 0; y < cells_; ++y) lowest_[y] = std::min(lowest_[y], view[y]);
    }
    auto* const view = state.message_views.data() + (state.begin[x] + j) * cells_;
    raise(view);
    for (std::uint32_t y = 0; y < cells_; ++y) view[y] = std::max(view[y], lowest_[y]);
    view[x] = seen(j);
}

// Whether message j of x can still add to the view of t. A thread that reads x and has seen the message knows
// all that it says. For one that only does RMWs the view need not say whether it has.
bool SraMessages::tells(SraState const& state, std::uint32_t x, std::uint32_t j, std::uint32_t t) const {
    auto const node = state.nodes[t];
    if (j + 1 == count(state, x) && needs_.modifies(t, node, x)) return true;
    return state.views[t * cells_ + x] < seen(j) &&
           needs_.reads_value(t, node, x, message(state, x, j).value);
}

// Packed states.

void SraMessages::pack(SraState const& state, std::vector<std::uint8_t>& key, std::vector<Seen>& views) {
    key.clear();
    for (std::uint32_t t = 0; t < threads_; ++t) put(key, state.nodes[t], node_bytes_[t]);
    for (std::uint32_t x = 0; x < cells_; ++x) put(key, count(state, x), 1);
    for (std::uint32_t x = 0; x < cells_; ++x) {
        for (std::uint32_t j = 0; j < count(state, x); ++j)
            put(key, message(state, x, j).value, value_bytes_[x]);
    }
    views.clear();
    each_packed_view(state, [&](Seen view) { views.push_back(view); });
}

void SraMessages::unpack(std::uint8_t const* key, Seen const* views, SraState& state) {
    state.nodes.clear();
    state.begin.assign(1, 0);
    state.messages.clear();
    for (std::uint32_t t = 0; t < threads_; ++t) state.nodes.push_back(take(key, node_bytes_[t]));
    for (std::uint32_t x = 0; x < cells_; ++x) state.begin.push_back(state.begin[x] + take(key, 1));
    for (std::uint32_t x = 0; x < cells_; ++x) {
        for (std::uint32_t j = 0; j < count(state, x); ++j)
            state.messages.push_back({take(key, value_bytes_[x]), threads_});
    }
    state.views.resize(threads_ * cells_);
    state.message_views.resize(state.messages.size() * cells_);
    each_row(state, [&](Seen* view) {
        for (std::uint32_t x = 0; x < cells_; ++x) view[x] = static_cast<Seen>(2 * count(state, x));
    });
    for (std::uint32_t x = 0; x < cells_; ++x) {
        for (std::uint32_t j = 0; j < count(state, x); ++j)
            state.message_views[(state.begin[x] + j) * cells_ + x] = seen(j);
    }
    each_packed_view(state, [&](Seen& view) { view = *views++; });
}

// Packed are the views of cells that some thread reads or can have a race on: the others are as high as can
// be. What a message says about its own cell is known.
template <class State, class Each>
void SraMessages::each_packed_view(State& state, Each each) {
    viewed_.clear();
    for (std::uint32_t x = 0; x < cells_; ++x) {
        for (std::uint32_t t = 0; t < threads_; ++t) {
            auto const node = state.nodes[t];
            if (!needs_.reads(t, node, x) && !needs_.races(t, node, x)) continue;
            viewed_.push_back(x);
            break;
        }
    }
    for (std::uint32_t t = 0; t < threads_; ++t) {
        for (auto x : viewed_) each(state.views[t * cells_ + x]);
    }
    for (std::uint32_t x = 0; x < cells_; ++x) {
        for (auto index = state.begin[x]; index < state.begin[x + 1]; ++index) {
            for (auto y : viewed_) {
                if (y != x) each(state.message_views[index * cells_ + y]);
            }
        }
    }
}

}  // namespace fencepost
