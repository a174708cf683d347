#include "engine/monitors/packed_monitor.hpp"

#include <stdexcept>

namespace fencepost {

AwareSets::AwareSets(Program const& program, MonitorParts const& parts, Layout& layout)
    : element_(program.cells.size()), everywhere_(program.cells.size()) {
    BitNumbering numbering;
    for (std::uint32_t x = 0; x < program.cells.size(); ++x) {
        auto const& cell = program.cells[x];
        if (cell.plain.size() + cell.free.size() == 0) continue;
        auto const [piece, bit] = numbering.next();
        element_[x] = {piece, bit};
    }
    sets_ = SetArray(layout, parts.sets(), numbering.piece_bits());
    for (std::uint32_t x = 0; x < program.cells.size(); ++x) {
        if (element_[x].bit == 0) continue;
        for (std::size_t set = 0; set < sets_.count(); ++set)
            everywhere_[x].add(sets_[set][element_[x].piece], element_[x].bit);
    }
}

void AwareSets::add_renaming(Renaming const& e, std::vector<AwareSet> const& to,
                             BitPermutation& moves) const {
    for (std::size_t set = 0; set < sets_.count(); ++set) {
        for (std::uint32_t x = 0; x < element_.size(); ++x) {
            auto const &a = element_[x], &b = element_[e.cell(x)];
            if (a.bit == 0) continue;
            if (b.bit == 0) throw std::invalid_argument("malformed bytecode: cells renamed are not alike");
            moves.add(sets_[set][a.piece], a.bit, sets_[index(to[set])][b.piece], b.bit);
        }
    }
}

}  // namespace fencepost
