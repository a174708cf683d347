#include "sanitizer/hooks/interpose.hpp"

#include "sanitizer/core/await.hpp"
#include "sanitizer/core/locations.hpp"
#include "sanitizer/core/robustness.hpp"
#include "sanitizer/core/threads.hpp"
#include "sanitizer/hooks/weak_operations.hpp"
#include "sanitizer/races/feed.hpp"

namespace fencepost {

void acquire_object(void const volatile* object, std::uintptr_t channel) {
    Hook hook;
    if (!hook) return;
    interrupt_await(hook.thread());
    std::uintptr_t const address = reinterpret_cast<std::uintptr_t>(object) + channel;
    LockedCell cell(hook.thread(), address, CellKind::synchronisation);
    if (!cell) return;
    races::acquire_object(hook.thread(), cell->race_message);
    acquire_from(hook.thread(), *cell);
    if (is_weak()) weak::acquire_object(hook.thread(), *cell);
}

void release_object(void const volatile* object, std::uintptr_t channel) {
    Hook hook;
    if (!hook) return;
    interrupt_await(hook.thread());
    std::uintptr_t const address = reinterpret_cast<std::uintptr_t>(object) + channel;
    LockedCell cell(hook.thread(), address, CellKind::synchronisation);
    if (!cell) return;
    races::release_object(hook.thread(), cell->race_message);
    release_to(hook.thread(), *cell);
    if (is_weak()) weak::release_object(hook.thread(), *cell);
}

}  // namespace fencepost
