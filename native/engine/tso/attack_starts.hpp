// Where attacks on robustness begin: a write, and the cells whose reads can overtake it (tso.hpp).
#pragma once

#include <vector>

#include "engine/tso/solo_run.hpp"

namespace fencepost {

inline bool is_store(Access const* access) {
    return access != nullptr && access->instruction->op == Op::store;
}

class AttackStarts {
  public:
    AttackStarts(Program const& program, Machine<NoMonitor> const& machine)
        : solo_(program, machine, true, false) {
        for (std::uint32_t p = 0; p < program.threads.size(); ++p) {
            reads_ahead_.push_back(reads_ahead(program.threads[p], true));
            CellSet accessed, written;
            for (std::uint32_t t = 0; t < program.threads.size(); ++t) {
                if (t == p) continue;
                for (auto const& i : program.threads[t].code) {
                    if (!i.is_access()) continue;
                    accessed |= cells_of(i);
                    if (i.op != Op::load && i.op != Op::wait) written |= cells_of(i);
                }
            }
            accessed_by_others_.push_back(accessed);
            written_by_others_.push_back(written);
        }
    }

    // Calls `begins(x)` for every read of x that can overtake `store`, the next access of p, in `state`, if
    // others could take the attack further.
    template <class Begins>
    void find(Word const* state, std::uint32_t p, Access const& store, Begins begins) {
        if (!accessed_by_others_[p][store.cell]) return;
        if ((reads_ahead_[p][store.pc] & written_by_others_[p]).none()) return;
        auto const read = [&](std::uint32_t, Access const& overtaking, Value) {
            if (written_by_others_[p][overtaking.cell]) begins(overtaking.cell);
            return false;
        };
        solo_.run(state, p, store, read, [](FencePlaces const&) { return false; });
    }

  private:
    SoloRun<NoMonitor> solo_;
    std::vector<std::vector<CellSet>> reads_ahead_;                // per thread and instruction
    std::vector<CellSet> accessed_by_others_, written_by_others_;  // per thread
};

}  // namespace fencepost
