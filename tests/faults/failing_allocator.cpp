// Preloaded into Python, it makes allocations of a search fail when it is told to: `malloc`, which is what
// `new` calls, the memory that the engine's stores take from the system, and the start of a thread. A search
// has released Python's lock; who holds it converts arguments or results, in code of nanobind that takes no
// exceptions.
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

namespace {

std::atomic<long> first{-1}, last{-1}, asked{0};
int (*holds_lock)() = nullptr;  // PyGILState_Check

bool is_search() {
    return first >= 0 && holds_lock() == 0;
}

bool fails() {
    if (!is_search()) return false;
    auto const number = asked++;
    return first <= number && number < last;
}

template <class Function>
Function* original(char const* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" void fencepost_fail(long after, long count) {
    first = last = -1;
    asked = 0;
    holds_lock = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "PyGILState_Check"));
    first = after;
    last = after + count;
}

extern "C" long fencepost_asked() {
    return asked;
}

// The engine has libstdc++ in it, so its `new` cannot be replaced here.
extern "C" void* __libc_malloc(std::size_t bytes);
extern "C" void* __libc_memalign(std::size_t alignment, std::size_t bytes);

extern "C" void* malloc(std::size_t bytes) noexcept {
    if (fails()) {
        errno = ENOMEM;
        return nullptr;
    }
    return __libc_malloc(bytes);
}

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
    if (fails()) {
        errno = ENOMEM;
        return nullptr;
    }
    return __libc_memalign(alignment, bytes);
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
