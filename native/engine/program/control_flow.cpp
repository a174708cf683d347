#include "engine/program/control_flow.hpp"

namespace fencepost {

std::vector<std::uint32_t> followers(Thread const& thread, std::uint32_t pc) {
    auto const& i = thread.code[pc];
    switch (i.op) {
        case Op::go_to:
            return {i.target};
        case Op::choose:
            return i.many;
        case Op::branch:
            return {i.target, pc + 1};
        default:
            return {pc + 1};
    }
}

bool may_choose_after(Thread const& thread, std::uint32_t pc) {
    std::vector<bool> met(thread.code.size() + 1);
    std::vector<std::uint32_t> open = followers(thread, pc);
    while (!open.empty()) {
        auto const next = open.back();
        open.pop_back();
        if (next >= thread.code.size() || met[next] || thread.code[next].is_access()) continue;
        if (thread.code[next].op == Op::choose) return true;
        met[next] = true;
        for (auto further : followers(thread, next)) open.push_back(further);
    }
    return false;
}

CellSet cells_of(Instruction const& instruction) {
    CellSet cells;
    for (std::uint32_t n = 0; n < instruction.cells; ++n) cells.set(instruction.first_cell + n);
    return cells;
}

std::vector<CellSet> reads_ahead(Thread const& thread, bool through_writes) {
    // The cells that can be read from an instruction on, itself included: the least fixpoint, backwards.
    std::vector<CellSet> from(thread.code.size() + 1), after(thread.code.size());
    for (bool changed = true; changed;) {
        changed = false;
        for (auto pc = static_cast<std::uint32_t>(thread.code.size()); pc-- > 0;) {
            auto const& i = thread.code[pc];
            CellSet ahead;
            for (auto next : followers(thread, pc)) ahead |= from[next];
            after[pc] = ahead;
            bool const reads = i.op == Op::load || i.op == Op::wait;
            bool const ends =
                i.op == Op::drain || (i.is_access() && !reads && !(through_writes && i.op == Op::store));
            if (ends) ahead.reset();
            if (reads) ahead |= cells_of(i);
            if (ahead != from[pc]) {
                from[pc] = ahead;
                changed = true;
            }
        }
    }
    return after;
}

}  // namespace fencepost
