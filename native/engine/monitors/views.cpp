#include "engine/monitors/views.hpp"

namespace fencepost {

Views::Views(Program const& program, Layout& layout, MonitorParts const& parts, bool with_races)
    : cells_(program.cells), bits_(program.cells.size()) {
    BitNumbering numbering;
    for (std::size_t x = 0; x < bits_.size(); ++x) number_values(numbering, x);
    if (parts.views() > parts.hb_views()) numbering.begin_piece();
    auto const pieces_of_values = numbering.piece_bits().size();
    for (std::size_t x = 0; with_races && x < bits_.size(); ++x)
        number_races(numbering, x, program.threads.size());
    sets_ = SetArray(layout, parts.hb_views(), numbering.piece_bits());
    sets_.add_shorter(layout, parts.views() - parts.hb_views(), pieces_of_values);
    for (auto& b : bits_) {
        b.plain_everywhere = everywhere(b.plain_class);
        b.free_everywhere = everywhere(b.free_class);
        b.read_everywhere = everywhere(b.read);
        for (auto const& part : b.write) b.write_everywhere = everywhere(part);
    }
}

void Views::number_values(BitNumbering& numbering, std::size_t x) {
    take(numbering, x, cells_[x].plain.size(), bits_[x].plain_class);
    take(numbering, x, cells_[x].free.size(), bits_[x].free_class);
}

void Views::number_races(BitNumbering& numbering, std::size_t x, std::size_t threads) {
    if (cells_[x].atomic) return;
    take(numbering, x, 1, bits_[x].write);
    take(numbering, x, threads, bits_[x].read);
}

void Views::take(BitNumbering& numbering, std::size_t x, std::size_t count, std::vector<Part>& single) {
    auto& all = bits_[x].all;
    for (std::size_t i = 0; i < count; ++i) {
        auto const [piece, bit] = numbering.next();
        single.push_back({piece, bit});
        if (all.empty() || all.back().piece != piece) all.push_back({piece, 0});
        all.back().bits |= bit;
    }
}

BitSelection Views::everywhere(Part const& part) const {
    BitSelection selection;
    for (std::size_t view = 0; view < sets_.count(); ++view) {
        if (part.piece < sets_.pieces(view)) selection.add(sets_[view][part.piece], part.bits);
    }
    return selection;
}

std::vector<BitSelection> Views::everywhere(std::vector<Part> const& parts) const {
    std::vector<BitSelection> selections;
    for (auto const& part : parts) selections.push_back(everywhere(part));
    return selections;
}

void Views::add_renaming(Renaming const& e, std::vector<View> const& to, BitPermutation& moves) const {
    std::vector<std::pair<Part, Part>> pairs;
    auto const add_classes = [&](std::uint32_t x, ValueClasses const& from, std::vector<Part> const& parts,
                                 ValueClasses const& into, std::vector<Part> const& images) {
        for (std::uint32_t c = 0; c < parts.size(); ++c) {
            auto const image = c < from.tracked.size() ? into.of_critical(e.value(x, from.tracked[c])) : c;
            pairs.emplace_back(parts[c], images.at(image));
        }
    };
    for (std::uint32_t x = 0; x < bits_.size(); ++x) {
        auto const y = e.cell(x);
        add_classes(x, cells_[x].plain, bits_[x].plain_class, cells_[y].plain, bits_[y].plain_class);
        add_classes(x, cells_[x].free, bits_[x].free_class, cells_[y].free, bits_[y].free_class);
        for (std::size_t i = 0; i < bits_[x].write.size(); ++i)
            pairs.emplace_back(bits_[x].write[i], bits_[y].write.at(i));
        for (std::uint32_t t = 0; t < bits_[x].read.size(); ++t)
            pairs.emplace_back(bits_[x].read[t], bits_[y].read.at(e.thread(t)));
    }
    for (std::size_t view = 0; view < sets_.count(); ++view) {
        for (auto const& [a, b] : pairs) {
            if (a.piece >= sets_.pieces(view)) continue;
            moves.add(sets_[view][a.piece], a.bits, sets_[index(to[view])][b.piece], b.bits);
        }
    }
}

std::optional<Views::MissedAccess> Views::missed(Word const* state, View view, std::uint32_t d,
                                                 bool writes) const {
    for (auto const& part : bits_[d].write) {
        if (has(state, view, part)) return MissedAccess{true, 0};
    }
    if (!conflict(false, writes)) return std::nullopt;
    for (std::uint32_t t = 0; t < bits_[d].read.size(); ++t) {
        if (has(state, view, bits_[d].read[t])) return MissedAccess{false, t};
    }
    return std::nullopt;
}

}  // namespace fencepost
