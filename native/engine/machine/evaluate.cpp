#include "engine/machine/evaluate.hpp"

namespace fencepost {

namespace {

template <class Number>
std::optional<Wide> run_steps(Expression const& e, Word const* state, Field const* registers) {
    Number stack[deepest_expression + 1];
    Number* top = stack;  // the first entry stays unused
    auto const binary = [&top](auto f) {
        --top;
        top[0] = static_cast<Number>(f(top[0], top[1]));
    };
    for (std::size_t i = 0; i < e.steps.size(); ++i) {
        auto const& step = e.steps[i];
        switch (step.op) {
            case ExpressionOp::push_constant:
                *++top = static_cast<Number>(step.operand);
                break;
            case ExpressionOp::push_register:
                *++top = static_cast<Number>(registers[step.operand].get(state));
                break;
            case ExpressionOp::negate:
                *top = -*top;
                break;
            case ExpressionOp::logical_not:
                *top = *top == 0;
                break;
            case ExpressionOp::to_bool:
                *top = *top != 0;
                break;
            case ExpressionOp::multiply:
                binary([](Number a, Number b) { return a * b; });
                break;
            case ExpressionOp::divide:
                if (top[0] == 0) return std::nullopt;
                binary([](Number a, Number b) { return a / b; });
                break;
            case ExpressionOp::remainder:
                if (top[0] == 0) return std::nullopt;
                binary([](Number a, Number b) { return a % b; });
                break;
            case ExpressionOp::add:
                binary([](Number a, Number b) { return a + b; });
                break;
            case ExpressionOp::subtract:
                binary([](Number a, Number b) { return a - b; });
                break;
            case ExpressionOp::less:
                binary([](Number a, Number b) { return a < b; });
                break;
            case ExpressionOp::less_equal:
                binary([](Number a, Number b) { return a <= b; });
                break;
            case ExpressionOp::greater:
                binary([](Number a, Number b) { return a > b; });
                break;
            case ExpressionOp::greater_equal:
                binary([](Number a, Number b) { return a >= b; });
                break;
            case ExpressionOp::equal:
                binary([](Number a, Number b) { return a == b; });
                break;
            case ExpressionOp::not_equal:
                binary([](Number a, Number b) { return a != b; });
                break;
            case ExpressionOp::bit_and:
                binary([](Number a, Number b) { return a & b; });
                break;
            case ExpressionOp::bit_xor:
                binary([](Number a, Number b) { return a ^ b; });
                break;
            case ExpressionOp::bit_or:
                binary([](Number a, Number b) { return a | b; });
                break;
            case ExpressionOp::and_jump:
                if (*top == 0) {
                    i = step.operand - 1;
                } else {
                    --top;
                }
                break;
            case ExpressionOp::or_jump:
                if (*top != 0) {
                    *top = 1;
                    i = step.operand - 1;
                } else {
                    --top;
                }
                break;
        }
    }
    return static_cast<Wide>(*top);
}

}  // namespace

std::optional<Wide> evaluate_steps(Expression const& e, Word const* state, Field const* registers) {
    return e.wide ? run_steps<Wide>(e, state, registers) : run_steps<std::int64_t>(e, state, registers);
}

}  // namespace fencepost
