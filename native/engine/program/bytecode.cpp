#include "engine/program/bytecode.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

namespace fencepost {

namespace {

constexpr Value most_rotated = 1024;

int stack_effect(ExpressionOp op) {
    switch (op) {
        case ExpressionOp::push_constant:
        case ExpressionOp::push_register:
            return 1;
        case ExpressionOp::negate:
        case ExpressionOp::logical_not:
        case ExpressionOp::to_bool:
            return 0;
        default:
            return -1;  // a binary operator, or a jump that is not taken
    }
}

void require(bool condition, char const* what) {
    if (!condition) throw std::invalid_argument(std::string("malformed bytecode: ") + what);
}

// Jumps go forward over exactly one operand, so the depth at a step does not depend on the way to it.
void check_steps(Expression const& e, std::uint32_t registers) {
    long depth = 0;
    for (std::size_t i = 0; i < e.steps.size(); ++i) {
        auto const& step = e.steps[i];
        require(step.op <= ExpressionOp::or_jump, "unknown operator");
        int const effect = stack_effect(step.op);
        require(effect == 1 || depth >= 1, "operand missing");
        bool const jumps = step.op == ExpressionOp::and_jump || step.op == ExpressionOp::or_jump;
        require(effect != -1 || jumps || depth >= 2, "operand missing");
        if (step.op == ExpressionOp::push_register) require(step.operand < registers, "register");
        if (jumps) require(step.operand > i && step.operand <= e.steps.size(), "expression jump");
        depth += effect;
        require(depth <= static_cast<long>(deepest_expression), "expression too deep");
    }
    require(depth == 1, "an expression leaves one value");
}

// Whether what is kept of stale values of one cell is the image of what is kept of those of the other.
bool is_image(Renaming const& e, std::uint32_t x, ValueClasses const& from, ValueClasses const& into) {
    return from.size() == into.size() && from.others == into.others &&
           std::ranges::all_of(from.tracked,
                               [&](Value v) { return into.of_critical(e.value(x, v)) != none; });
}

void check_cells(Program const& program, Renaming const& renaming) {
    for (std::uint32_t x = 0; x < program.fence_cell(); ++x) {
        auto const &from = program.cells[x], &into = program.cells[renaming.cell(x)];
        require(from.atomic == into.atomic && is_image(renaming, x, from.plain, into.plain) &&
                    is_image(renaming, x, from.free, into.free),
                "cells renamed are not alike");
    }
}

void check_exchange(Program const& program, Exchange const& e) {
    auto const& threads = program.threads;
    require(e.first < threads.size() && e.second < threads.size(), "thread exchanged");
    require(e.first != e.second, "thread exchanged");
    require(threads[e.first].accesses == threads[e.second].accesses, "threads exchanged are not equal");
    require(threads[e.first].registers == threads[e.second].registers, "threads exchanged are not equal");
    require(threads[e.first].taintable == threads[e.second].taintable, "threads exchanged are not equal");
    for (auto const& [x, y] : e.cells) {
        require(x < program.fence_cell() && y < program.fence_cell(), "cell exchanged");
    }
    for (auto const& values : e.values) {
        require(values.first <= program.max_value && values.second <= program.max_value, "value exchanged");
        for (auto x : values.cells) require(x < program.fence_cell(), "cell of a value exchanged");
        for (auto const& r : values.registers) {
            require(r.thread < threads.size() && r.pc < threads[r.thread].code.size() &&
                        r.reg < threads[r.thread].registers,
                    "register of a value exchanged");
        }
    }
    Renaming const renaming(program, e);
    for (std::uint32_t x = 0; x < program.fence_cell(); ++x)
        require(renaming.cell(renaming.cell(x)) == x, "cell exchanged");
    check_cells(program, renaming);
}

// Stale values of the pivot alone are told apart, all of them.
void check_translation(Program const& program, Rotation const& r) {
    auto const& lift = *r.lift;
    require(program.rotations.size() == 1 && r.step == 1 && !program.wraps, "translation");
    require(r.modulus == program.max_value + 1 && lift.base < r.modulus && lift.stale < lift.base &&
                lift.period > 0 && lift.period <= lift.stale + 1,
            "translation");
    for (auto x : r.cells) {
        auto const& cell = program.cells[x];
        for (auto const* classes : {&cell.plain, &cell.free}) {
            bool const all = x == r.pivot && classes->tracked.size() == r.modulus;
            require(classes->tracked.empty() || all, "stale values of a translation");
            require(!(x == r.pivot && classes->others), "stale values of a translation");
        }
    }
    require(program.cells[r.pivot].initial == lift.base, "pivot of a translation");
}

void check_rotation(Program const& program, Rotation const& r) {
    auto const& threads = program.threads;
    require(r.step > 0 && r.step < r.modulus && r.modulus % r.step == 0, "rotation");
    require(r.modulus - 1 <= program.max_value && r.modulus <= most_rotated, "rotation");
    require(std::ranges::count(r.cells, r.pivot) == 1, "pivot of a rotation");
    for (auto x : r.cells) require(x < program.fence_cell(), "cell of a rotation");
    for (auto const& at : r.registers) {
        require(at.thread < threads.size() && at.pc < threads[at.thread].code.size() &&
                    at.reg < threads[at.thread].registers,
                "register of a rotation");
    }
    std::vector<bool> moved(program.cells.size());
    moved[r.pivot] = true;
    for (auto const& array : r.arrays) {
        require(array.size > 0 && array.first < program.fence_cell() &&
                    array.size <= program.fence_cell() - array.first && r.modulus % array.size == 0,
                "array of a rotation");
        for (auto x = array.first; x < array.first + array.size; ++x) {
            require(!moved[x], "array of a rotation");
            moved[x] = true;
        }
    }
    Renaming const renaming(program, r, 1);
    std::vector<bool> rotates(program.cells.size());
    for (auto x : r.cells) rotates[x] = true;
    for (std::uint32_t x = 0; x < program.fence_cell(); ++x)
        require(rotates[x] == rotates[renaming.cell(x)], "cell of a rotation");
    check_cells(program, renaming);
    if (r.lift) check_translation(program, r);
}

}  // namespace

std::uint32_t ValueClasses::of_critical(Value v) const {
    auto const found = std::lower_bound(tracked.begin(), tracked.end(), v);
    if (found == tracked.end() || *found != v) return none;
    return static_cast<std::uint32_t>(found - tracked.begin());
}

std::uint32_t ValueClasses::of(Value v) const {
    auto const alone = of_critical(v);
    if (alone != none || !others) return alone;
    return static_cast<std::uint32_t>(tracked.size());
}

Renaming::Renaming(Program const& program)
    : threads_(program.threads.size()),
      cells_(program.cells.size()),
      swapped_(program.cells.size()),
      moved_(program.cells.size()) {
    std::iota(threads_.begin(), threads_.end(), 0u);
    std::iota(cells_.begin(), cells_.end(), 0u);
}

Renaming::Renaming(Program const& program, Exchange const& e) : Renaming(program) {
    std::swap(threads_[e.first], threads_[e.second]);
    for (auto const& [x, y] : e.cells) {
        cells_[x] = y;
        cells_[y] = x;
    }
    for (auto const& values : e.values) {
        for (auto x : values.cells) swapped_[x].push_back({values.first, values.second});
    }
}

Renaming::Renaming(Program const& program, Rotation const& r, Value steps) : Renaming(program) {
    for (auto x : r.cells) moved_[x] = {&r, steps};
    for (auto const& array : r.arrays) {
        for (Value i = 0; i < array.size; ++i)
            cells_[array.first + i] =
                array.first + static_cast<std::uint32_t>(r.moved(i, steps) % array.size);
    }
}

Value Renaming::value(std::uint32_t x, Value v) const {
    for (auto const& [a, b] : swapped_[x]) {
        if (v == a) return b;
        if (v == b) return a;
    }
    auto const& [rotation, steps] = moved_[x];
    return rotation == nullptr ? v : rotation->moved(v, steps);
}

std::vector<Renaming> Program::renamings() const {
    std::vector<Renaming> all;
    for (auto const& e : exchanges) all.emplace_back(*this, e);
    for (auto const& r : rotations) {
        for (Value steps = 1; steps < r.order(); steps *= 2) {
            all.emplace_back(*this, r, steps);
            all.emplace_back(*this, r, r.order() - steps);
        }
    }
    return all;
}

bool Program::has_taints() const {
    return std::ranges::any_of(threads, [](Thread const& thread) { return !thread.taintable.empty(); });
}

void Program::finish() {
    require(!cells.empty(), "no cell is reserved for fences");
    require(threads.size() <= most_threads, "too many threads");
    for (auto const& cell : cells) {
        require(cell.initial <= max_value, "initial value");
        require(std::is_sorted(cell.plain.tracked.begin(), cell.plain.tracked.end()), "tracked values");
        require(std::is_sorted(cell.free.tracked.begin(), cell.free.tracked.end()), "tracked values");
    }
    for (auto& thread : threads) {
        auto const check = [&](std::uint32_t e, bool optional = false) {
            if (optional && e == none) return;
            require(e < expressions.size(), "expression");
            auto const& expression = expressions[e];
            if (expression.shape == Expression::Shape::single_register)
                require(expression.register_number < thread.registers, "register");
            if (expression.shape == Expression::Shape::steps) check_steps(expression, thread.registers);
        };
        auto const check_registers = [&](std::vector<std::uint32_t> const& registers) {
            for (auto r : registers) require(r < thread.registers, "register");
        };
        check_registers(thread.dead_at_end);
        check_registers(thread.taintable);
        check_registers(thread.used_at_end);
        thread.point_of.assign(thread.code.size(), none);
        for (std::size_t pc = 0; pc < thread.code.size(); ++pc) {
            auto& i = thread.code[pc];
            require(i.op <= Op::order_fence, "unknown instruction");
            require(i.reg == none || i.reg < thread.registers, "register");
            require(i.target <= thread.code.size(), "jump target");
            check_registers(i.dead);
            check_registers(i.used);
            require(!i.taints || (i.op == Op::load && i.reg != none), "a load taints a register");
            check(i.index, true);
            check(i.first, true);
            check(i.second, true);
            for (auto entry : i.many) {
                if (i.op == Op::choose) {
                    require(entry <= thread.code.size(), "jump target");
                } else {
                    check(entry);
                }
            }
            bool const two = i.op == Op::compare_exchange || i.op == Op::blocking_compare_exchange;
            bool const one = i.op == Op::assign || i.op == Op::branch || i.op == Op::assert_ ||
                             i.op == Op::assume || i.op == Op::store || is_fetch(i.op) ||
                             i.op == Op::exchange || two;
            require(!one || i.first != none, "expression missing");
            require(!two || i.second != none, "expression missing");
            require(i.op != Op::assign || i.reg != none, "register missing");
            // What can fail is evaluated when the thread comes here, and again after they are forgotten.
            if (i.can_fail) {
                auto const reads_dead = [&](std::uint32_t e) {
                    return e != none && std::ranges::any_of(expressions[e].steps, [&](auto const& step) {
                               return step.op == ExpressionOp::push_register &&
                                      std::ranges::find(i.dead, step.operand) != i.dead.end();
                           });
                };
                bool const waits_for_dead = i.op == Op::wait && std::ranges::any_of(i.many, reads_dead);
                require(
                    !reads_dead(i.index) && !reads_dead(i.first) && !reads_dead(i.second) && !waits_for_dead,
                    "a register that is dead is used");
            }
            require(!i.local || i.op >= Op::load, "what is local is an access or a fence");
            if (i.op < Op::load || (i.op > Op::sc_fence && !i.local)) continue;
            require(i.cells > 0 && i.first_cell < cells.size(), "cell");
            require(i.cells <= cells.size() - i.first_cell, "array");
            for (auto x = i.first_cell; x < i.first_cell + i.cells; ++x)
                require(i.op >= Op::sc_fence || i.non_atomic != cells[x].atomic, "kind of access");
            if (i.local) continue;
            has_non_atomic = has_non_atomic || i.non_atomic;
            thread.point_of[pc] = thread.ended();
            thread.accesses.push_back(static_cast<std::uint32_t>(pc));
        }
    }
    for (auto const& e : exchanges) check_exchange(*this, e);
    for (auto const& r : rotations) check_rotation(*this, r);
}

}  // namespace fencepost
