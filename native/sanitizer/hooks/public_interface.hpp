// How a function of ThreadSanitizer's public interface is defined here.
//
// In the modes atomics and full the library has all of them, as weak symbols: a program may bring its own. In
// mode races ThreadSanitizer has them too. The linker leads the calls to ours (build/races.wrap), and ours go
// on to the real ones.
#pragma once

#if defined(FENCEPOST_RACES)
#define FENCEPOST_PUBLIC(result, name, ...)       \
    extern "C" result __real_##name(__VA_ARGS__); \
    extern "C" [[gnu::visibility("default")]] result __wrap_##name(__VA_ARGS__)
#define AND_REALLY(name, ...) __real_##name(__VA_ARGS__)
#else
#define FENCEPOST_PUBLIC(result, name, ...) \
    extern "C" [[gnu::weak, gnu::visibility("default")]] result name(__VA_ARGS__)
#define AND_REALLY(name, ...) (void)0
#endif
