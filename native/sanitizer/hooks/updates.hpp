// Read-modify-write operations: what they make of a value, and the instruction that does it on memory.
#pragma once

#include "sanitizer/system/raw_memory.hpp"

namespace fencepost {

#define UPDATE(Name, expression, operation)                                                              \
    struct Name {                                                                                        \
        template <class T>                                                                               \
        static T of(T old, T operand) {                                                                  \
            (void)old;                                                                                   \
            return static_cast<T>(expression);                                                           \
        }                                                                                                \
        template <class T>                                                                               \
        static T in_memory(T volatile* a, T operand, std::uintptr_t place = 0, bool release = false) {   \
            return raw_##operation(a, operand, [&](T old) { return of(old, operand); }, place, release); \
        }                                                                                                \
    };
UPDATE(Exchange, operand, exchange)
UPDATE(Add, old + operand, fetch_add)
UPDATE(Subtract, old - operand, fetch_sub)
UPDATE(And, old& operand, fetch_and)
UPDATE(Or, old | operand, fetch_or)
UPDATE(Xor, old ^ operand, fetch_xor)
UPDATE(Nand, ~(old& operand), fetch_nand)
#undef UPDATE

}  // namespace fencepost
