// Heap blocks: where they were allocated, for reports.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/core/threads.hpp"

namespace fencepost {

struct Block {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
    std::uint32_t stack = 0;
};

// In a hook. `frame`: of the function that the program called.
void note_block(Thread&, void const* block, void const* frame);
void forget_block(void const* block);

// The block that the address lies in; begin is 0 if there is none.
Block find_block(std::uintptr_t address);

}  // namespace fencepost
