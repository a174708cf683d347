#include "engine/stale_views.hpp"

namespace holdfast {

StaleViews::StaleViews(Program const& program, Layout& layout, std::size_t views)
    : cells_(program.cells), bits_(program.cells.size()) {
    BitNumbering counter;
    auto const take = [&counter](std::size_t classes, std::vector<Part>& single, std::vector<Part>& merged,
                                 std::vector<Part>& all) {
        auto const merge = [](std::vector<Part>& parts, std::uint32_t piece, Word bit) {
            if (parts.empty() || parts.back().piece != piece) parts.push_back({piece, 0});
            parts.back().bits |= bit;
        };
        for (std::size_t c = 0; c < classes; ++c) {
            auto const [piece, bit] = counter.next();
            single.push_back({piece, bit});
            merge(merged, piece, bit);
            merge(all, piece, bit);
        }
    };
    for (std::size_t x = 0; x < bits_.size(); ++x) {
        auto& b = bits_[x];
        take(cells_[x].plain.size(), b.plain_class, b.plain, b.all);
        take(cells_[x].free.size(), b.free_class, b.free, b.all);
    }
    sets_ = SetArray(layout, views, counter.piece_bits());
    auto const everywhere = [&](std::vector<Part> const& parts) {
        std::vector<BitSelection> selections(parts.size());
        for (std::size_t c = 0; c < parts.size(); ++c) {
            for (std::size_t view = 0; view < views; ++view) {
                selections[c].add(sets_[view][parts[c].piece], parts[c].bits);
            }
        }
        return selections;
    };
    for (auto& b : bits_) {
        b.plain_everywhere = everywhere(b.plain_class);
        b.free_everywhere = everywhere(b.free_class);
    }
}

void StaleViews::make_stale(Word* state, std::uint32_t x, Value old, bool by_rmw) const {
    auto const plain_class = cells_[x].plain.of(old);
    if (plain_class != none) bits_[x].plain_everywhere[plain_class].set(state);
    if (by_rmw) return;
    auto const free_class = cells_[x].free.of(old);
    if (free_class != none) bits_[x].free_everywhere[free_class].set(state);
}

bool StaleViews::plain(Word const* state, std::size_t view, std::uint32_t x, Value v) const {
    auto const c = cells_[x].plain.of_critical(v);
    return c != none && has(state, view, bits_[x].plain_class[c]);
}

bool StaleViews::free(Word const* state, std::size_t view, std::uint32_t x, Value v) const {
    auto const c = cells_[x].free.of_critical(v);
    return c != none && has(state, view, bits_[x].free_class[c]);
}

bool StaleViews::plain_but(Word const* state, std::size_t view, std::uint32_t x, Value v) const {
    auto const excluded = cells_[x].plain.of_critical(v);
    for (std::uint32_t c = 0; c < bits_[x].plain_class.size(); ++c) {
        if (c != excluded && has(state, view, bits_[x].plain_class[c])) return true;
    }
    return false;
}

}  // namespace holdfast
