// The atomic operations as functions, one for each size, for callers that are rare: compiling them anew in
// each caller takes long. Functions that programs call often use operations.hpp, where everything is inlined.
#pragma once

#include <cstdint>

#include "sanitizer/hooks/operations.hpp"

namespace fencepost {

template <class T>
[[gnu::noinline]] T called_load(T const volatile* a, int order, void const* frame) {
    return do_load(a, order_of(order), frame);
}
template <class T>
[[gnu::noinline]] void called_store(T volatile* a, T value, int order, void const* frame) {
    do_store(a, value, order_of(order), frame);
}
template <class T>
[[gnu::noinline]] T called_cas(T volatile* a, T expected, T desired, int success, int failure,
                               void const* frame) {
    return do_cas(a, expected, desired, order_of(success), order_of(failure), frame);
}

enum class Operation { exchange, add, subtract, and_, or_, xor_, nand };

// One of the updates of operations.hpp, chosen when it is done.
struct ChosenUpdate {
    Operation operation;

    template <class Action>
    auto with_update(Action action) const {
        switch (operation) {
            case Operation::exchange:
                return action(Exchange{});
            case Operation::add:
                return action(Add{});
            case Operation::subtract:
                return action(Subtract{});
            case Operation::and_:
                return action(And{});
            case Operation::or_:
                return action(Or{});
            case Operation::xor_:
                return action(Xor{});
            default:
                return action(Nand{});
        }
    }
    template <class T>
    T of(T old, T operand) const {
        return with_update([&](auto update) { return update.of(old, operand); });
    }
    template <class T>
    T in_memory(T volatile* a, T operand, std::uintptr_t pc = 0, bool release = false) const {
        return with_update([&](auto update) { return update.in_memory(a, operand, pc, release); });
    }
};
constexpr SiteKind site_kind(ChosenUpdate update) {
    return update.operation == Operation::exchange ? SiteKind::exchange : SiteKind::fetch;
}
template <class T>
[[gnu::noinline]] T called_rmw(Operation operation, T volatile* a, T operand, int order, void const* frame) {
    return do_rmw(a, operand, order_of(order), frame, ChosenUpdate{operation});
}

}  // namespace fencepost
