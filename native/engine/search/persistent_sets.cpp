#include "engine/search/persistent_sets.hpp"

#include <bit>

namespace fencepost {

PersistentSets::PersistentSets(Program const& program, std::uint32_t pivot)
    : now_(program.threads.size()),
      all_(program.threads.size() == 64 ? ~Threads{0} : (Threads{1} << program.threads.size()) - 1),
      pivot_(pivot) {
    for (std::uint32_t t = 0; t < program.threads.size(); ++t) {
        auto const& thread = program.threads[t];
        auto const ahead = t == pivot ? reads_ahead(thread, false) : std::vector<CellSet>();
        auto const own = [&](std::uint32_t pc) {
            Point point;
            auto const& i = thread.code[pc];
            if (!i.is_access()) return point;
            point.touched = cells_of(i);
            if (i.op != Op::load && i.op != Op::wait) point.written = point.touched;
            if (t == pivot && i.op == Op::store) point.ahead = ahead[pc];
            point.touched |= point.ahead;
            return point;
        };
        // From each instruction on: the least fixpoint, backwards.
        std::vector<Point> from(thread.code.size() + 1);
        for (bool changed = true; changed;) {
            changed = false;
            for (auto pc = static_cast<std::uint32_t>(thread.code.size()); pc-- > 0;) {
                auto point = own(pc);
                for (auto next : followers(thread, pc)) {
                    point.touched |= from[next].touched;
                    point.written |= from[next].written;
                }
                if (point.touched == from[pc].touched && point.written == from[pc].written) continue;
                from[pc] = point;
                changed = true;
            }
        }
        auto& points = points_.emplace_back();
        for (auto pc : thread.accesses) points.push_back(from[pc]);
        points.resize(thread.diverged() + 1);  // at its end it does nothing
    }
}

PersistentSets::Threads PersistentSets::smallest(Threads enabled) const {
    Threads best = all_;
    for (Threads open = enabled; open != 0; open &= open - 1) {
        auto const found = closure(static_cast<std::uint32_t>(std::countr_zero(open)));
        if (std::popcount(found & enabled) < std::popcount(best & enabled)) best = found;
    }
    return best;
}

// A thread that has ended can do nothing, so no set gets one.
PersistentSets::Threads PersistentSets::closure(std::uint32_t first) const {
    Threads set = Threads{1} << first;
    for (Threads open = set; open != 0;) {
        auto const& t = now_[static_cast<std::size_t>(std::countr_zero(open))];
        open &= open - 1;
        for (std::uint32_t u = 0; u < now_.size(); ++u) {
            if ((set >> u & 1) != 0 || !depends(now_[u], t)) continue;
            set |= Threads{1} << u;
            open |= Threads{1} << u;
        }
    }
    return set;
}

}  // namespace fencepost
