// Preloaded into Python, it makes allocations of a search fail when it is told to: `new`, the memory that the
// engine's stores take from the system, and the start of a thread. A search has released Python's lock; who
// holds it converts arguments or results, in code of nanobind that takes no exceptions.
//
// fencepost_fail(n, count) lets n of them succeed and then `count` fail; fencepost_asked() says how many were
// asked for since.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> first{-1}, last{-1}, asked{0};

bool is_search() {
    static auto* const holds_lock = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "PyGILState_Check"));
    return first >= 0 && holds_lock() == 0;
}

bool fails() {
    if (!is_search()) return false;
    auto const number = asked++;
    return first <= number && number < last;
}

void* take(std::size_t bytes, std::size_t alignment = alignof(max_align_t)) {
    if (bytes == 0) bytes = 1;
    bytes = (bytes + alignment - 1) / alignment * alignment;
    if (!fails())
        if (void* const memory = std::aligned_alloc(alignment, bytes)) return memory;
    throw std::bad_alloc();
}

template <class Function>
Function* original(char const* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" void fencepost_fail(long after, long count) {
    first = last = -1;
    asked = 0;
    first = after;
    last = after + count;
}

extern "C" long fencepost_asked() {
    return asked;
}

void* operator new(std::size_t bytes) {
    return take(bytes);
}
void* operator new[](std::size_t bytes) {
    return take(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return take(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
    return take(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}

// Only the engine asks for memory that is not reserved.
extern "C" void* mmap(void* address, std::size_t bytes, int protection, int flags, int file,
                      off_t offset) noexcept {
    static auto* const real = original<decltype(mmap)>("mmap");
    if ((flags & MAP_NORESERVE) != 0 && fails()) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return real(address, bytes, protection, flags, file, offset);
}

extern "C" void* mremap(void* old, std::size_t old_bytes, std::size_t bytes, int flags, ...) noexcept {
    static auto* const real = original<decltype(mremap)>("mremap");
    if (fails()) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return real(old, old_bytes, bytes, flags);
}

extern "C" int pthread_create(pthread_t* thread, pthread_attr_t const* attributes, void* (*run)(void*),
                              void* argument) noexcept {
    static auto* const real = original<decltype(pthread_create)>("pthread_create");
    if (fails()) return EAGAIN;
    return real(thread, attributes, run, argument);
}
