// Static-local variables of C++: the compiler's code reads a guard byte with an acquire load, which is
// instrumented; the C++ library's function that sets it is not. We write the release into the location's
// clocks, whose value then is not what our writes left there: the cell is marked for that.
#include "sanitizer/core/locations.hpp"
#include "sanitizer/hooks/interpose.hpp"
#include "sanitizer/hooks/operations.hpp"
#include "sanitizer/schedule/sync.hpp"

using namespace fencepost;

// In mode races ThreadSanitizer has functions of these names that nobody can stand in front of, so the linker
// leads calls of them to ours.
#if defined(FENCEPOST_RACES)
#define GUARD(name) __wrap___cxa_guard_##name
#define REAL_GUARD(name) __real___cxa_guard_##name
extern "C" int __real___cxa_guard_acquire(std::uint64_t*);
extern "C" void __real___cxa_guard_release(std::uint64_t*);
#else
#define GUARD(name) __cxa_guard_##name
#define REAL_GUARD(name) REAL(__cxa_guard_##name)
#endif
extern "C" int GUARD(acquire)(std::uint64_t*);
extern "C" void GUARD(release)(std::uint64_t*);

FENCEPOST_INTERPOSE int GUARD(acquire)(std::uint64_t* guard) {
    if (scheduler::active()) scheduler::guard_acquire(guard);
    int const must_initialise = REAL_GUARD(acquire)(guard);
    acquire_object(guard);
    return must_initialise;
}

FENCEPOST_INTERPOSE void GUARD(release)(std::uint64_t* guard) {
    if (scheduler::active()) scheduler::guard_release(guard);
    release_object(guard);
    {
        Hook hook;
        if (watched(hook)) {
            Thread& t = hook.thread();
            LockedCell x(t, address_of(guard), CellKind::atomic);
            if (x && x.created()) x->begin(0);
            if (x) {
                x->foreign = true;
                races::publish(t, x->race_message, true);
                AccessSite const site{0, 0, Access::store, Order::release};
                write_part(t, *x, 1, true, site);
                auto* const byte = reinterpret_cast<std::uint8_t*>(guard);
                if (is_weak()) follow_weakly(t, x, byte, *byte, std::uint8_t{1}, site);
            }
        }
    }
    REAL_GUARD(release)(guard);
    if (scheduler::active()) scheduler::guard_released(guard);
}

// The initialisation has thrown. Mode races, which has no schedules, need not know.
#if !defined(FENCEPOST_RACES)
extern "C" void __cxa_guard_abort(std::uint64_t*);
FENCEPOST_INTERPOSE void __cxa_guard_abort(std::uint64_t* guard) {
    if (scheduler::active()) scheduler::guard_release(guard);
    REAL(__cxa_guard_abort)(guard);
    if (scheduler::active()) scheduler::guard_released(guard);
}
#endif
