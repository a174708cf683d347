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
constexpr std::size_t chunk = 256 * 1024, small_chunks = 16;

struct Free {
    Free* next;
};
Lock guard;
Pool own;
Pool* pool = &own;

std::size_t size_number(std::size_t bytes) {
    if (bytes <= smallest) return 0;
    return static_cast<std::size_t>(std::bit_width(bytes - 1) - std::bit_width(smallest - 1));
}

void* found(void* pages) {
    if (pages == nullptr) stop_with("fencepost: the system has no memory left for the sanitizer\n");
    return pages;
}

bool uses_large_pages, prepares_page;
void* prepared_page;  // null: there is none

void* map_large_page() {
    auto const begin = reinterpret_cast<std::uintptr_t>(pages(2 * large_page));
    auto const page = (begin + large_page - 1) & ~(large_page - 1);
    kernel::call(SYS_madvise, page, large_page, MADV_HUGEPAGE);
    return reinterpret_cast<void*>(page);
}

// What is left of the old chunk is lost. A shared pool has one, and no other.
void start_chunk() {
    if (pool != &own) found(nullptr);
    bool const large = own.chunks++ >= small_chunks;
    own.fresh = static_cast<char*>(large ? page_for_good() : found(kernel::pages(chunk, true)));
    own.fresh_bytes = large ? large_page : chunk;
}

void* cut(std::size_t bytes) {
    std::size_t const unit = bytes < line ? smallest : bytes < 2 * line ? line : 2 * line;
    std::size_t const needed = bytes + pool->fresh_bytes % unit;  // chunks end at multiples of all units
    if (pool->fresh_bytes < needed) {
        start_chunk();
        return cut(bytes);
    }
    pool->fresh += needed;
    pool->fresh_bytes -= needed;
    return pool->fresh - bytes;
}

// Blocks of these sizes are mapped and unmapped singly.
bool is_mapped(std::size_t number) {
    return number >= sizes && pool == &own;
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
    __atomic_store_n(&uses_large_pages, true, __ATOMIC_RELAXED);
    void* const prepared = __atomic_exchange_n(&prepared_page, nullptr, __ATOMIC_ACQUIRE);
    return prepared != nullptr ? prepared : map_large_page();
}

void prepare_page() {
    if (!__atomic_load_n(&uses_large_pages, __ATOMIC_RELAXED) ||
        __atomic_load_n(&prepared_page, __ATOMIC_RELAXED) != nullptr ||
        __atomic_exchange_n(&prepares_page, true, __ATOMIC_ACQUIRE))
        return;
    if (__atomic_load_n(&prepared_page, __ATOMIC_RELAXED) == nullptr) {
        void* const page = map_large_page();
        *static_cast<char volatile*>(page) = 0;
        __atomic_store_n(&prepared_page, page, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&prepares_page, false, __ATOMIC_RELEASE);
}

void give_back(void* begin, std::size_t bytes) {
    if (reinterpret_cast<std::uintptr_t>(begin) + bytes <= kernel::mapped_until) return;  // all of it stays
    kernel::call(SYS_munmap, begin, bytes);
}

std::size_t usable(std::size_t bytes) {
    auto const number = size_number(bytes);
    return number < sizes ? smallest << number : bytes;
}

void* allocate(std::size_t bytes) {
    auto const number = size_number(bytes);
    if (is_mapped(number)) return pages(bytes);
    Locked held(guard);
    if (auto* const block = static_cast<Free*>(pool->free_blocks[number]); block != nullptr) {
        pool->free_blocks[number] = block->next;
        return block;
    }
    return cut(smallest << number);
}

void release(void* block, std::size_t bytes) {
    auto const number = size_number(bytes);
    if (is_mapped(number)) return give_back(block, bytes);
    Locked held(guard);
    auto* const free = static_cast<Free*>(block);
    free->next = static_cast<Free*>(pool->free_blocks[number]);
    pool->free_blocks[number] = free;
}

void* allocate_chain(std::size_t bytes, std::size_t count) {
    auto const number = size_number(bytes);
    Locked held(guard);
    Free* chain = nullptr;
    for (std::size_t i = 0; i < count; ++i) {
        auto* block = static_cast<Free*>(pool->free_blocks[number]);
        if (block != nullptr)
            pool->free_blocks[number] = block->next;
        else
            block = static_cast<Free*>(cut(smallest << number));
        block->next = chain;
        chain = block;
    }
    return chain;
}

void release_chain(void* chain, std::size_t bytes) {
    if (chain == nullptr) return;
    auto const number = size_number(bytes);
    auto* last = static_cast<Free*>(chain);
    while (last->next != nullptr) last = last->next;
    Locked held(guard);
    last->next = static_cast<Free*>(pool->free_blocks[number]);
    pool->free_blocks[number] = chain;
}

void* shared_pages(std::size_t bytes) {
    static std::uintptr_t next = 0x3000'0000'0000;
    constexpr int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE;
    long const result = kernel::call(SYS_mmap, next, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    next += (bytes + large_page - 1) / large_page * large_page;
    return kernel::failed(result) ? nullptr : reinterpret_cast<void*>(result);
}

Pool* make_shared_pool() {
    for (std::size_t bytes = std::size_t{1} << 36; bytes >= std::size_t{1} << 26; bytes /= 2) {
        auto* const made = static_cast<Pool*>(shared_pages(bytes));
        if (made == nullptr) continue;
        made->fresh = reinterpret_cast<char*>(made + 1);
        made->fresh_bytes = bytes - sizeof *made;
        return made;
    }
    return static_cast<Pool*>(found(nullptr));
}

InPool::InPool(Pool* other) : outer_(pool) {
    pool = other;
}
InPool::~InPool() {
    pool = outer_;
}

}  // namespace fencepost::memory
