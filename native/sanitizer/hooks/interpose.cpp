#include "sanitizer/hooks/interpose.hpp"

#include "sanitizer/core/await.hpp"
#include "sanitizer/core/locations.hpp"
#include "sanitizer/core/robustness.hpp"
#include "sanitizer/core/threads.hpp"

namespace fencepost {

void acquire_object(void const volatile* object, std::uintptr_t channel) {
    Hook hook;
    if (!hook) return;
    interrupt_await(hook.thread());
    std::uintptr_t const address = reinterpret_cast<std::uintptr_t>(object) + channel;
    LockedCell cell(hook.thread(), address, CellKind::synchronisation);
    if (cell) acquire_from(hook.thread(), *cell);
}

void release_object(void const volatile* object, std::uintptr_t channel) {
    Hook hook;
    if (!hook) return;
    interrupt_await(hook.thread());
    std::uintptr_t const address = reinterpret_cast<std::uintptr_t>(object) + channel;
    LockedCell cell(hook.thread(), address, CellKind::synchronisation);
    if (cell) release_to(hook.thread(), *cell);
}

}  // namespace fencepost
