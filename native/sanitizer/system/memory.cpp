#include "sanitizer/system/memory.hpp"

#include <bit>

#include "sanitizer/system/lock.hpp"
#include "sanitizer/system/syscalls.hpp"
#include "sanitizer/system/text.hpp"

namespace fencepost::memory {
namespace {

constexpr std::size_t smallest = 32;
constexpr std::size_t sizes = 14;  // 32 bytes to 256 KiB
constexpr std::size_t line = 64;

// The pages of a chunk are made at once, which is cheaper than when they are touched. Where many are used
// they are large pages.
constexpr std::size_t chunk = 256 * 1024, small_chunks = 64;

struct Free {
    Free* next;
};
Lock guard;
Free* free_blocks[sizes];
char* fresh;
std::size_t fresh_bytes;
std::size_t chunks;

std::size_t size_number(std::size_t bytes) {
    if (bytes <= smallest) return 0;
    return static_cast<std::size_t>(std::bit_width(bytes - 1) - std::bit_width(smallest - 1));
}

void* found(void* pages) {
    if (pages == nullptr) stop_with("fencepost: the system has no memory left for the sanitizer\n");
    return pages;
}

// What is left of the old chunk is lost.
void start_chunk() {
    bool const large = chunks++ >= small_chunks;
    fresh = static_cast<char*>(large ? page_for_good() : found(kernel::pages(chunk, true)));
    fresh_bytes = large ? large_page : chunk;
}

void* cut(std::size_t bytes) {
    std::size_t const unit = bytes < line ? smallest : bytes < 2 * line ? line : 2 * line;
    std::size_t const needed = bytes + fresh_bytes % unit;  // chunks end at multiples of all units
    if (fresh_bytes < needed) {
        start_chunk();
        return cut(bytes);
    }
    fresh += needed;
    fresh_bytes -= needed;
    return fresh - bytes;
}

}  // namespace

void* pages(std::size_t bytes) {
    return found(kernel::pages(bytes));
}

void* for_good(std::size_t bytes) {
    Locked held(guard);
    return cut(bytes);
}

void* page_for_good() {
    auto const begin = reinterpret_cast<std::uintptr_t>(pages(2 * large_page));
    auto const page = (begin + large_page - 1) & ~(large_page - 1);
    kernel::call(SYS_madvise, page, large_page, MADV_HUGEPAGE);
    return reinterpret_cast<void*>(page);
}

void give_back(void* begin, std::size_t bytes) {
    kernel::call(SYS_munmap, begin, bytes);
}

std::size_t usable(std::size_t bytes) {
    auto const number = size_number(bytes);
    return number < sizes ? smallest << number : bytes;
}

void* allocate(std::size_t bytes) {
    auto const number = size_number(bytes);
    if (number >= sizes) return pages(bytes);
    Locked held(guard);
    if (Free* block = free_blocks[number]; block != nullptr) {
        free_blocks[number] = block->next;
        return block;
    }
    return cut(smallest << number);
}

void release(void* block, std::size_t bytes) {
    auto const number = size_number(bytes);
    if (number >= sizes) return give_back(block, bytes);
    Locked held(guard);
    auto* const free = static_cast<Free*>(block);
    free->next = free_blocks[number];
    free_blocks[number] = free;
}

}  // namespace fencepost::memory
