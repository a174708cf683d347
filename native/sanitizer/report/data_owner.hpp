// What an address of data belongs to: a global, a heap block, a thread's stack.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sanitizer/core/allocations.hpp"
#include "sanitizer/system/modules.hpp"

namespace fencepost {

struct DataOwner {
    enum class Kind : std::uint8_t { global, heap, stack, unknown } kind = Kind::unknown;
    ModuleOffset module;             // of a global
    char const* name = nullptr;      // of a global, if it is known
    std::size_t size = 0;            // of a named global, or of a heap block
    std::uintptr_t begin = 0;        // of a heap block
    std::uint32_t allocated_by = 0;  // stack
    std::uint32_t thread = 0;        // whose stack
};

// In a hook. `block`: that it was in when it was accessed, if any; it may be freed by now, or another.
DataOwner find_owner(std::uintptr_t address, Block const& block = {});

struct ThreadName {
    char text[16];
};
ThreadName name_of_thread(std::uint32_t id);

}  // namespace fencepost
