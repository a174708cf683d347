#include "engine/persistent_sets.hpp"

#include <bit>

namespace holdfast {

PersistentSets::PersistentSets(Program const& program, std::uint32_t pivot)
    : all_(program.threads.size() == 64 ? ~Threads{0} : (Threads{1} << program.threads.size()) - 1) {
    for (std::uint32_t t = 0; t < program.threads.size(); ++t) {
        auto const& thread = program.threads[t];
        auto const ahead = reads_ahead(thread, false);
        auto const own = [&](std::uint32_t pc) {
            Cells cells;
            auto const& i = thread.code[pc];
            if (!i.is_access()) return cells;
            (i.op == Op::load || i.op == Op::wait ? cells.read : cells.written) = cells_of(i);
            if (t == pivot && i.op == Op::store) cells.read |= ahead[pc];
            return cells;
        };
        // From each instruction on; the least solution, backwards.
        std::vector<Cells> from(thread.code.size() + 1);
        for (bool changed = true; changed;) {
            changed = false;
            for (auto pc = static_cast<std::uint32_t>(thread.code.size()); pc-- > 0;) {
                auto cells = own(pc);
                for (auto next : followers(thread, pc)) {
                    cells.read |= from[next].read;
                    cells.written |= from[next].written;
                }
                if (cells.read == from[pc].read && cells.written == from[pc].written) continue;
                from[pc] = cells;
                changed = true;
            }
        }
        auto& points = points_.emplace_back();
        for (auto pc : thread.accesses) points.push_back({own(pc), from[pc]});
        points.resize(thread.diverged() + 1);  // at its end it does nothing
    }
}

PersistentSets::Threads PersistentSets::choose(std::span<std::uint32_t const> points, Threads enabled) const {
    Threads best = all_;
    for (std::uint32_t t = 0; t < points.size(); ++t) {
        if ((enabled >> t & 1) == 0) continue;
        auto const found = closure(t, points);
        if (std::popcount(found & enabled) < std::popcount(best & enabled)) best = found;
    }
    return best;
}

PersistentSets::Threads PersistentSets::closure(std::uint32_t first,
                                                std::span<std::uint32_t const> points) const {
    Threads set = Threads{1} << first;
    for (Threads open = set; open != 0;) {
        auto const t = static_cast<std::uint32_t>(std::countr_zero(open));
        open &= open - 1;
        auto const& next = points_[t][points[t]].next;
        for (std::uint32_t u = 0; u < points.size(); ++u) {
            if ((set >> u & 1) != 0 || !points_[u][points[u]].future.depends_on(next)) continue;
            set |= Threads{1} << u;
            open |= Threads{1} << u;
        }
    }
    return set;
}

}  // namespace holdfast
