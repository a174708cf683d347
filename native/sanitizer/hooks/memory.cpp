// Memory that comes and goes. Where it is freed or unmapped, locations end; what comes there next begins
// anew. Where a block was allocated is noted for reports.
//
// The real functions cannot be looked up one by one: looking up allocates and frees. The first call looks up
// all of them, and what is called meanwhile goes to the C library's own.
#include <malloc.h>

#include <cstdlib>

#include "sanitizer/core/allocations.hpp"
#include "sanitizer/core/threads.hpp"
#include "sanitizer/hooks/interpose.hpp"
#include "sanitizer/hooks/race_watch.hpp"
#include "sanitizer/schedule/scheduler.hpp"

using namespace fencepost;

extern "C" {
void* __libc_malloc(std::size_t) noexcept;
void* __libc_calloc(std::size_t, std::size_t) noexcept;
void* __libc_realloc(void*, std::size_t) noexcept;
void* __libc_memalign(std::size_t, std::size_t) noexcept;
void __libc_free(void*) noexcept;
}

namespace {

struct Allocator {
    decltype(&::malloc) allocate;
    decltype(&::calloc) allocate_zeroed;
    decltype(&::realloc) reallocate;
    decltype(&::memalign) allocate_aligned;
    decltype(&::free) release;
};
constexpr Allocator c_library{__libc_malloc, __libc_calloc, __libc_realloc, __libc_memalign, __libc_free};
Allocator found;
// The frame of the `delete` that calls `free`, if one does.
constinit thread_local void const* deleted_by [[gnu::tls_model("initial-exec")]] = nullptr;
enum class Lookup : std::uint8_t { not_begun, begun, done } lookup;

Allocator const& look_up() {
    if (lookup == Lookup::begun) return c_library;
    lookup = Lookup::begun;
    found = {REAL(malloc), REAL(calloc), REAL(realloc), REAL(memalign), REAL(free)};
    lookup = Lookup::done;
    return found;
}

Allocator const& real_allocator() {
    return lookup == Lookup::done ? found : look_up();
}

// Before the library has started there is nothing to note.
void* noted(void* block, void const* frame) {
    if (block == nullptr || all_threads == nullptr) return block;
    memory_comes(block, malloc_usable_size(block));
    Hook hook;
    if (hook) note_block(hook.thread(), block, frame);
    return block;
}

void forgotten(void* block, void const* frame) {
    if (block == nullptr || all_threads == nullptr) return;
    std::size_t const bytes = malloc_usable_size(block);
    memory_goes(block, bytes, frame);
    forget_block(block);
    forget_memory(block, bytes);
}

// In an exploration that tries what happens then.
bool no_memory() {
    if (!scheduler::allocation_fails()) return false;
    errno = ENOMEM;
    return true;
}

}  // namespace

#define FRAME __builtin_frame_address(0)

FENCEPOST_INTERPOSE void* malloc(std::size_t bytes) noexcept {
    if (no_memory()) return nullptr;
    return noted(real_allocator().allocate(bytes), FRAME);
}

FENCEPOST_INTERPOSE void* calloc(std::size_t count, std::size_t bytes) noexcept {
    if (no_memory()) return nullptr;
    void* const block = noted(real_allocator().allocate_zeroed(count, bytes), FRAME);
    if (block != nullptr) memory_is_zeroed(block, count * bytes, FRAME);
    return block;
}

// A block that cannot be moved stays as it is; one that is moved is a new one, whatever it holds.
FENCEPOST_INTERPOSE void* realloc(void* block, std::size_t bytes) noexcept {
    if (bytes != 0 && no_memory()) return nullptr;
    forgotten(block, FRAME);
    return noted(real_allocator().reallocate(block, bytes), FRAME);
}

FENCEPOST_INTERPOSE void* reallocarray(void* block, std::size_t count, std::size_t bytes) noexcept {
    std::size_t total;
    if (__builtin_mul_overflow(count, bytes, &total)) {
        errno = ENOMEM;
        return nullptr;
    }
    if (no_memory()) return nullptr;
    forgotten(block, FRAME);
    return noted(real_allocator().reallocate(block, total), FRAME);
}

FENCEPOST_INTERPOSE void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
    if (no_memory()) return nullptr;
    return noted(real_allocator().allocate_aligned(alignment, bytes), FRAME);
}

FENCEPOST_INTERPOSE void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
    if (no_memory()) return nullptr;
    return noted(real_allocator().allocate_aligned(alignment, bytes), FRAME);
}

FENCEPOST_INTERPOSE int posix_memalign(void** result, std::size_t alignment, std::size_t bytes) noexcept {
    if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
    int const saved = errno;
    void* const block =
        no_memory() ? nullptr : noted(real_allocator().allocate_aligned(alignment, bytes), FRAME);
    errno = saved;
    if (block == nullptr) return ENOMEM;
    *result = block;
    return 0;
}

FENCEPOST_INTERPOSE void free(void* block) noexcept {
    forgotten(block, deleted_by != nullptr ? deleted_by : FRAME);
    real_allocator().release(block);
}

// The C++ library's functions have no frame pointers, so the caller of `new` would be missing in the stack.
#define OPERATOR_NEW(symbol, parameters, arguments)              \
    extern "C" void* symbol parameters;                          \
    FENCEPOST_INTERPOSE void* symbol parameters {                \
        auto const real = REAL(symbol);                          \
        if (real == nullptr) return noted(malloc(bytes), FRAME); \
        return noted(real arguments, FRAME);                     \
    }
OPERATOR_NEW(_Znwm, (std::size_t bytes), (bytes))
OPERATOR_NEW(_Znam, (std::size_t bytes), (bytes))
OPERATOR_NEW(_ZnwmRKSt9nothrow_t, (std::size_t bytes, void const* tag), (bytes, tag))
OPERATOR_NEW(_ZnamRKSt9nothrow_t, (std::size_t bytes, void const* tag), (bytes, tag))

// And that of `delete`. The block may come from a pool of the program's own, so only `free` looks at it.
#if defined(FENCEPOST_FULL)
#define OPERATOR_DELETE(symbol, parameters, arguments)  \
    extern "C" void symbol parameters;                  \
    FENCEPOST_INTERPOSE void symbol parameters {        \
        void const* const outer = deleted_by;           \
        deleted_by = FRAME;                             \
        auto const real = REAL(symbol);                 \
        real == nullptr ? free(block) : real arguments; \
        deleted_by = outer;                             \
    }
OPERATOR_DELETE(_ZdlPv, (void* block), (block))
OPERATOR_DELETE(_ZdaPv, (void* block), (block))
OPERATOR_DELETE(_ZdlPvm, (void* block, std::size_t bytes), (block, bytes))
OPERATOR_DELETE(_ZdaPvm, (void* block, std::size_t bytes), (block, bytes))
#endif
