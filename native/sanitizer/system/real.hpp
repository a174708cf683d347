// The functions that the library stands in front of: REAL(pthread_mutex_lock)(mutex) calls the definition
// that comes after ours. Functions whose symbols have versions need theirs: the linker's default is not
// always the one that programs are linked with.
#pragma once

#include <dlfcn.h>

namespace fencepost::real {

template <typename Function>
Function find(Function& known, char const* name, char const* version = nullptr) {
    Function found = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (found != nullptr) return found;
    void* address = version == nullptr ? nullptr : dlvsym(RTLD_NEXT, name, version);
    if (address == nullptr) address = dlsym(RTLD_NEXT, name);
    found = reinterpret_cast<Function>(address);
    __atomic_store_n(&known, found, __ATOMIC_RELAXED);
    return found;
}

}  // namespace fencepost::real

// In mode races ThreadSanitizer stands in front of many functions too. It may be linked into the program,
// where the next definition after ours is already the C library's; but its own have a second name. Null if
// there is none.
#if defined(FENCEPOST_RACES)
#define INTERCEPTOR(function)                                                                     \
    ([] {                                                                                         \
        extern decltype(::function) interceptor_of_##function __asm__("__interceptor_" #function) \
            [[gnu::weak]];                                                                        \
        return &interceptor_of_##function;                                                        \
    }())
#else
#define INTERCEPTOR(function) static_cast<decltype(&::function)>(nullptr)
#endif

#define REAL_VERSION(function, version)                             \
    ([] {                                                           \
        static decltype(&::function) known = INTERCEPTOR(function); \
        return ::fencepost::real::find(known, #function, version);  \
    }())

#define REAL(function) REAL_VERSION(function, nullptr)
