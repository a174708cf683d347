// The values of expressions over a packed state.
#pragma once

#include <optional>

#include "engine/program/bytecode.hpp"
#include "engine/state/field.hpp"

namespace fencepost {

// The value of an expression of a thread whose registers are `registers`, or nothing if it divides by 0.
std::optional<Wide> evaluate_steps(Expression const& e, Word const* state, Field const* registers);

inline std::optional<Wide> evaluate(Expression const& e, Word const* state, Field const* registers) {
    switch (e.shape) {
        case Expression::Shape::constant:
            return static_cast<Wide>(e.constant);
        case Expression::Shape::single_register:
            return static_cast<Wide>(registers[e.register_number].get(state));
        default:
            return evaluate_steps(e, state, registers);
    }
}

}  // namespace fencepost
