// Memory that comes and goes, in mode races: ThreadSanitizer allocates it, tells us when it is freed, and
// knows who allocated it.
#include "sanitizer/core/allocations.hpp"

#include <string_view>

#include "sanitizer/core/locations.hpp"
#include "sanitizer/core/stacks.hpp"
#include "sanitizer/races/feed.hpp"
#include "sanitizer/races/tsan.hpp"

namespace fencepost {
namespace {

void allocated(void const volatile*, std::size_t) {}

void freed(void const volatile* block) {
    if (block != nullptr) forget_memory(block, __sanitizer_get_allocated_size(block));
}

Stack allocation_of(void* address) {
    void* trace[kept_stack_depth] = {};
    int thread = 0;
    std::uint64_t kernel_thread = 0;
    Stack stack;
    __tsan_get_alloc_stack(address, trace, kept_stack_depth, &thread, &kernel_thread);
    for (void* const pc : trace)
        if (pc != nullptr) stack.frames[stack.count++] = reinterpret_cast<std::uintptr_t>(pc);
    return stack;
}

}  // namespace

Block find_block(std::uintptr_t address) {
    auto* const data = reinterpret_cast<void*>(address);
    void* begin = nullptr;
    std::size_t bytes = 0;
    char name[1];  // not written: with symbolize=0 ThreadSanitizer has no name to copy, and crashes
    char const* const kind = __tsan_locate_address(data, name, 0, &begin, &bytes);
    if (kind == nullptr || std::string_view(kind) != "heap") return {};
    return {reinterpret_cast<std::uintptr_t>(begin), bytes, keep_stack(allocation_of(data))};
}

void races::start_allocations() {
    __sanitizer_install_malloc_and_free_hooks(allocated, freed);
}

}  // namespace fencepost
