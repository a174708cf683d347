// Programs in bytecode made of any bytes: malformed in one place or in none. For libFuzzer
// (tests/fuzz/bytecode.cpp), and for a test with random bytes (tests/native/engine/malformed_bytecode.cpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/program/program_builder.hpp"

namespace fencepost::fuzz {

constexpr std::uint32_t large[] = {1u << 16, 1u << 31, UINT32_MAX - 1, UINT32_MAX};

class Input {
  public:
    Input(std::uint8_t const* data, std::size_t size) : at_(data), end_(data + size) {}
    std::uint8_t byte() { return at_ == end_ ? 0 : *at_++; }
    bool flag() { return (byte() & 1) != 0; }
    // One of 0..below-1; from the uppermost bytes, numbers that do not fit.
    std::uint32_t number(std::uint32_t below) {
        auto const b = byte();
        if (b >= 252) return large[b - 252];
        if (b >= 250 || below == 0) return below + (b & 1u);
        return b % below;
    }
    std::optional<std::uint32_t> maybe(std::uint32_t below) {
        if (below == 0 || byte() % 32 == 0) return std::nullopt;
        return number(below);
    }
    template <class Draw>
    auto some(std::uint32_t most, Draw draw) {
        std::vector<decltype(draw())> all;
        for (auto left = byte() % (most + 1); left > 0; --left) all.push_back(draw());
        return all;
    }

  private:
    std::uint8_t const *at_, *end_;
};

inline Value value(Input& in, Value largest = 3) {
    return in.number(static_cast<std::uint32_t>(std::min<Value>(largest, 3)) + 1);
}

inline void add_expressions(Input& in, ProgramBuilder& builder, std::uint32_t count,
                            std::uint32_t registers) {
    for (std::uint32_t i = 0; i < count; ++i) {
        if (auto const shape = in.byte() % 8; shape != 0) {
            bool const reads = shape < 4 && registers > 0;
            auto const op = reads ? ExpressionOp::push_register : ExpressionOp::push_constant;
            std::vector<std::pair<ExpressionOp, Value>> steps{{op, in.number(reads ? registers : 2)}};
            if (shape % 2 == 1) {
                auto const combine = static_cast<int>(ExpressionOp::multiply) + in.byte() % 12;
                steps.insert(steps.end(), {{ExpressionOp::push_constant, in.number(3)},
                                           {static_cast<ExpressionOp>(combine), 0}});
            }
            builder.add_expression(steps, in.flag());
            continue;
        }
        auto const steps = in.some(5, [&] {
            auto const op = static_cast<ExpressionOp>(in.number(static_cast<int>(ExpressionOp::or_jump) + 1));
            return std::pair<ExpressionOp, Value>(op, in.number(registers + 2));
        });
        builder.add_expression(steps, in.flag());
    }
}

inline void add_code(Input& in, ProgramBuilder& builder, std::uint32_t cells, std::uint32_t expressions,
                     std::uint32_t registers, std::uint32_t atomic) {
    std::uint32_t const size = in.byte() % 6;
    for (std::uint32_t pc = 0; pc < size; ++pc) {
        auto const op = static_cast<Op>(in.number(static_cast<int>(Op::order_fence) + 1));
        auto const reg = in.maybe(registers);
        auto const first_cell = in.number(cells);
        auto const array = in.byte() % 8 == 0;
        auto const count = array ? in.number(4) : 1;
        auto const index = array ? in.maybe(expressions) : std::nullopt;
        auto const first = in.maybe(expressions), second = in.maybe(expressions);
        auto const many = in.some(3, [&] { return in.number(std::min(expressions, size + 1)); });
        auto const target = in.number(size + 1);
        auto const bits = in.byte();
        auto const odd = in.byte();
        bool const non_atomic = first_cell < cells && (atomic >> first_cell & 1) == 0;
        builder.add_instruction(op, reg, first_cell, count, index, first, second, many, target, bits & 1,
                                bits & 2, bits & 4, bits & 8, bits & 16, non_atomic != (odd > 250),
                                odd % 64 == 1, (op == Op::load && reg && odd % 4 == 2) || odd == 2);
        if (odd % 16 == 3 && registers > 0) builder.forget(in.some(2, [&] { return in.number(registers); }));
        if (odd % 16 == 4 && registers > 0) builder.observe(in.some(2, [&] { return in.number(registers); }));
    }
}

inline void add_exchange(Input& in, ProgramBuilder& builder, std::uint32_t cells, std::uint32_t threads) {
    auto const first = in.number(threads), second = in.number(threads);
    auto const pairs = in.some(2, [&] {
        auto const x = in.number(cells);
        return std::pair(x, in.number(cells));
    });
    auto const values = in.some(1, [&] {
        auto const v = value(in), w = value(in);
        auto const in_cells = in.some(2, [&] { return in.number(cells); });
        auto const in_registers = in.some(2, [&] {
            auto const t = in.number(threads), pc = in.number(3);
            return std::tuple(t, pc, in.number(2));
        });
        return std::tuple(v, w, in_cells, in_registers);
    });
    builder.add_exchange(first, second, pairs, values);
}

inline void add_rotation(Input& in, ProgramBuilder& builder, std::uint32_t cells, std::uint32_t threads) {
    Value const modulus = in.byte() % 5, step = in.byte() % 3;
    auto const in_cells = in.some(2, [&] { return in.number(cells); });
    auto const in_registers = in.some(2, [&] {
        auto const t = in.number(threads), pc = in.number(3);
        return std::tuple(t, pc, in.number(2));
    });
    auto const arrays = in.some(1, [&] {
        auto const first = in.number(cells);
        return std::pair(first, in.number(3));
    });
    auto const pivot = in_cells.empty() ? in.number(cells) : in_cells[0];
    builder.add_rotation(modulus, step, pivot, in_cells, in_registers, arrays, std::nullopt);
}

inline Program program_of(Input& in) {
    constexpr Value largest[] = {1, 2, 3, 255, UINT64_MAX};
    auto const max_value = largest[in.byte() % 5];
    ProgramBuilder builder(max_value, in.flag());
    std::uint32_t const cells = 1 + in.byte() % 3, registers = in.byte() % 3, expressions = 1 + in.byte() % 4;
    std::uint32_t const atomic = in.byte() | (in.byte() % 4 != 0 ? 7 : 0);
    for (std::uint32_t x = 0; x < cells; ++x) {
        auto tracked = in.some(2, [&] { return value(in); });
        if (in.byte() % 32 != 1) std::ranges::sort(tracked);
        builder.add_cell(value(in, max_value), atomic >> x & 1, tracked, in.flag(), tracked, in.flag());
    }
    builder.add_cell(0, true, {}, in.flag(), {}, in.flag());
    add_expressions(in, builder, expressions, registers);
    std::uint32_t const threads = in.byte() % 4;
    for (std::uint32_t t = 0; t < threads; ++t) {
        builder.add_thread(registers, in.some(registers > 0 ? 2 : 0, [&] { return in.number(registers); }));
        add_code(in, builder, cells, expressions, registers, atomic);
        if (in.byte() % 8 == 1 && registers > 0)
            builder.track_taints(in.some(2, [&] { return in.number(registers); }),
                                 in.some(2, [&] { return in.number(registers); }));
    }
    if (in.byte() % 16 == 1) add_exchange(in, builder, cells, threads);
    if (in.byte() % 16 == 1) add_rotation(in, builder, cells, threads);
    return builder.finish();
}

}  // namespace fencepost::fuzz
