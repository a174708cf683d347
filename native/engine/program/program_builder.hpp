// Programs in bytecode, built piece by piece: this is how they come in from outside.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/program/bytecode.hpp"

namespace fencepost {

// Builds a Program piece by piece.
class ProgramBuilder {
  public:
    ProgramBuilder(Value max_value, bool wraps) {
        program_.max_value = max_value;
        program_.wraps = wraps;
    }

    void add_cell(Value initial, bool atomic, std::vector<Value> plain, bool plain_others,
                  std::vector<Value> free, bool free_others) {
        program_.cells.push_back(
            {initial, atomic, {std::move(plain), plain_others}, {std::move(free), free_others}});
    }

    std::uint32_t add_expression(std::vector<std::pair<ExpressionOp, Value>> const& steps, bool wide) {
        Expression e;
        e.wide = wide;
        for (auto const& [op, operand] : steps) {
            e.steps.push_back({op, operand});
            e.can_fail = e.can_fail || op == ExpressionOp::divide || op == ExpressionOp::remainder;
        }
        e.shape = Expression::Shape::steps;
        if (steps.size() == 1 && steps[0].first == ExpressionOp::push_constant) {
            e.shape = Expression::Shape::constant;
            e.constant = steps[0].second;
        } else if (steps.size() == 1 && steps[0].first == ExpressionOp::push_register) {
            e.shape = Expression::Shape::single_register;
            e.register_number = static_cast<std::uint32_t>(std::min<Value>(steps[0].second, none));
        }
        e.can_fail = e.can_fail || (!program_.wraps && e.shape == Expression::Shape::steps);
        program_.expressions.push_back(std::move(e));
        return static_cast<std::uint32_t>(program_.expressions.size() - 1);
    }

    void add_thread(std::uint32_t registers, std::vector<std::uint32_t> dead_at_end) {
        auto& thread = program_.threads.emplace_back();
        thread.registers = registers;
        thread.dead_at_end = std::move(dead_at_end);
    }
    // The registers that are dead at the instruction added last.
    void forget(std::vector<std::uint32_t> registers) {
        if (program_.threads.empty() || program_.threads.back().code.empty()) {
            throw std::invalid_argument("no instruction to forget registers at");
        }
        program_.threads.back().code.back().dead = std::move(registers);
    }

    // Loads can taint these registers of the thread added last, and its end shows those.
    void track_taints(std::vector<std::uint32_t> taintable, std::vector<std::uint32_t> used_at_end) {
        if (program_.threads.empty()) throw std::invalid_argument("no thread to track registers of");
        program_.threads.back().taintable = std::move(taintable);
        program_.threads.back().used_at_end = std::move(used_at_end);
    }
    // The registers that the instruction added last shows.
    void observe(std::vector<std::uint32_t> registers) {
        if (program_.threads.empty() || program_.threads.back().code.empty()) {
            throw std::invalid_argument("no instruction that shows registers");
        }
        program_.threads.back().code.back().used = std::move(registers);
    }

    void add_instruction(Op op, std::optional<std::uint32_t> reg, std::uint32_t first_cell,
                         std::uint32_t cells, std::optional<std::uint32_t> index,
                         std::optional<std::uint32_t> first, std::optional<std::uint32_t> second,
                         std::vector<std::uint32_t> many, std::uint32_t target, bool acquire,
                         bool acquire_alone, bool release, bool sc, bool sc_alone, bool non_atomic,
                         bool local, bool taints) {
        if (program_.threads.empty()) throw std::invalid_argument("no thread to add to");
        Instruction i;
        i.op = op;
        i.reg = reg.value_or(none);
        i.first_cell = first_cell;
        i.cells = cells;
        i.index = index.value_or(none);
        i.first = first.value_or(none);
        i.second = second.value_or(none);
        i.many = std::move(many);
        i.target = target;
        i.acquire = acquire;
        i.acquire_alone = acquire_alone;
        i.release = release;
        i.sc = sc;
        i.sc_alone = sc_alone;
        i.non_atomic = non_atomic;
        i.local = local;
        i.taints = taints;
        i.can_fail = index.has_value() || can_fail(i.first) || can_fail(i.second);
        if (op == Op::wait) {
            for (auto e : i.many) i.can_fail = i.can_fail || can_fail(e);
        }
        program_.threads.back().code.push_back(std::move(i));
    }

    void add_exchange(
        std::uint32_t first, std::uint32_t second, std::vector<std::pair<std::uint32_t, std::uint32_t>> cells,
        std::vector<std::tuple<Value, Value, std::vector<std::uint32_t>,
                               std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>>>> const&
            values) {
        Exchange e{first, second, std::move(cells), {}};
        for (auto const& [v, w, in_cells, in_registers] : values) {
            auto& added = e.values.emplace_back(Exchange::Values{v, w, in_cells, {}});
            for (auto const& [t, pc, reg] : in_registers) added.registers.push_back({t, pc, reg});
        }
        program_.exchanges.push_back(std::move(e));
    }

    void add_rotation(Value modulus, Value step, std::uint32_t pivot, std::vector<std::uint32_t> cells,
                      std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> const& registers,
                      std::vector<std::pair<std::uint32_t, std::uint32_t>> const& arrays,
                      std::optional<std::tuple<Value, Value, Value>> const& lift) {
        Rotation r{modulus, step, pivot, std::move(cells), {}, {}, {}};
        if (lift) r.lift = std::make_from_tuple<Rotation::Lift>(*lift);
        for (auto const& [t, pc, reg] : registers) r.registers.push_back({t, pc, reg});
        for (auto const& [first, size] : arrays) r.arrays.push_back({first, size});
        program_.rotations.push_back(std::move(r));
    }
    void clear_renamings() {
        program_.exchanges.clear();
        program_.rotations.clear();
    }

    // Checks what was built so far. The builder can be used further, and finish other programs.
    Program finish() const {
        Program program = program_;
        program.finish();
        return program;
    }

  private:
    bool can_fail(std::uint32_t e) const {
        return e < program_.expressions.size() && program_.expressions[e].can_fail;
    }

    Program program_;
};

}  // namespace fencepost
