// Fibers: threads of the program's own making, which run on whichever thread switches to them
// (<sanitizer/tsan_interface.h>). For the rules each is a thread. It knows at its beginning what its creator
// knows, and at a switch what the one before it knew, unless the program says otherwise. For a schedule it is
// part of the thread that runs it.
#include "sanitizer/core/threads.hpp"
#include "sanitizer/hooks/interpose.hpp"
#include "sanitizer/hooks/public_interface.hpp"
#include "sanitizer/hooks/weak_operations.hpp"
#include "sanitizer/races/feed.hpp"
#include "sanitizer/system/memory.hpp"

using namespace fencepost;

namespace {

struct Fiber {
    Thread* thread;
    void* real;  // ThreadSanitizer's, in mode races
};

// Null: a thread that has not asked for its own, and so has never left it.
constinit thread_local Fiber* running [[gnu::tls_model("initial-exec")]] = nullptr;

Fiber* make_fiber(Thread* thread, void* real) {
    auto* const fiber = static_cast<Fiber*>(memory::allocate(sizeof(Fiber)));
    *fiber = {thread, real};
    return fiber;
}

constexpr unsigned without_order = 1;

}  // namespace

FENCEPOST_PUBLIC(void*, __tsan_get_current_fiber) {
    if (running == nullptr) {
        void* real = nullptr;
#if defined(FENCEPOST_RACES)
        real = __real___tsan_get_current_fiber();
#endif
        running = make_fiber(&current_thread(), real);
    }
    return running;
}

FENCEPOST_PUBLIC(void*, __tsan_create_fiber, unsigned flags) {
    static_cast<void>(flags);
    void* real = nullptr;
#if defined(FENCEPOST_RACES)
    real = __real___tsan_create_fiber(flags);
#endif
    Hook hook;
    Thread* const thread = make_thread(hook.thread());
    races::thread_made(hook.thread(), *thread);
    if (is_weak()) weak::thread_made(hook.thread(), *thread);
    fiber_begins(*thread);
    return make_fiber(thread, real);
}

FENCEPOST_PUBLIC(void, __tsan_destroy_fiber, void* fiber) {
    auto* const ended = static_cast<Fiber*>(fiber);
    AND_REALLY(__tsan_destroy_fiber, ended->real);
    Hook hook;
    races::thread_ended(*ended->thread);
    thread_not_made(ended->thread);
    Hook::leave(hook.thread());
    forget_memory(ended, sizeof(Fiber));
    memory::release(ended, sizeof(Fiber));
}

FENCEPOST_PUBLIC(void, __tsan_switch_to_fiber, void* fiber, unsigned flags) {
    auto* const next = static_cast<Fiber*>(fiber);
    bool const ordered = (flags & without_order) == 0;
    if (ordered) release_object(next);
    AND_REALLY(__tsan_switch_to_fiber, next->real, flags);
    this_thread = next->thread;
    running = next;
#if defined(FENCEPOST_RACES)
    races::has_made_release_fence = true;  // the fiber may have, on another thread
#endif
    if (ordered) acquire_object(next);
}

FENCEPOST_PUBLIC(void, __tsan_set_fiber_name, void* fiber, char const* name) {
    name_thread(*static_cast<Fiber*>(fiber)->thread, name);
    AND_REALLY(__tsan_set_fiber_name, static_cast<Fiber*>(fiber)->real, name);
}
