// Call stacks, by frame pointers, and a store of those that belong to writes.
//
// The frames of the program have frame pointers because the wrappers ask the compiler for them. A frame of
// code that has none ends the walk or leaves a caller out; nothing outside the thread's stack is ever read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/core/threads.hpp"

namespace fencepost {

inline constexpr std::size_t stack_depth = 32;      // in reports of the access itself
inline constexpr std::size_t kept_stack_depth = 8;  // of writes, of which there are many

struct Stack {
    Stack() { frames[0] = 0; }
    std::size_t count = 0;
    std::uintptr_t frames[stack_depth];  // return addresses, innermost first

    // Of the operation: the innermost outside of <atomic> (atomic_methods.hpp); 0 if nothing is known.
    std::uintptr_t pc() const;
};

// `frame`: the frame address of the function that the program called.
Stack walk_stack(Thread const&, void const* frame, std::size_t depth);

// A number for the stack at this frame; 0 if there is no room for another.
std::uint32_t keep_stack(Thread&, void const* frame);
std::uint32_t keep_stack(Stack const&);
Stack kept_stack(std::uint32_t id);
std::uintptr_t kept_pc(std::uint32_t id);

}  // namespace fencepost
