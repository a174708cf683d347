// Sources of randomness under a schedule: the same numbers for the same seed, and a processor number that
// depends on nothing but the thread. /dev/urandom and the processor's own generator cannot be intercepted
// here.
#include <sched.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "sanitizer/hooks/interpose.hpp"
#include "sanitizer/schedule/state.hpp"
#include "sanitizer/schedule/system_calls.hpp"

using namespace fencepost::scheduler;

FENCEPOST_INTERPOSE ssize_t getrandom(void* buffer, size_t bytes, unsigned flags) {
    if (!active()) return REAL(getrandom)(buffer, bytes, flags);
    fill_by_chance(buffer, bytes);
    return static_cast<ssize_t>(bytes);
}

FENCEPOST_INTERPOSE int getentropy(void* buffer, size_t bytes) {
    if (!active()) return REAL(getentropy)(buffer, bytes);
    fill_by_chance(buffer, bytes);
    return 0;
}

FENCEPOST_INTERPOSE void arc4random_buf(void* buffer, size_t bytes) noexcept {
    if (!active()) return REAL(arc4random_buf)(buffer, bytes);
    fill_by_chance(buffer, bytes);
}

FENCEPOST_INTERPOSE std::uint32_t arc4random() noexcept {
    return active() ? draw(UINT32_MAX) : REAL(arc4random)();
}

FENCEPOST_INTERPOSE std::uint32_t arc4random_uniform(std::uint32_t n) noexcept {
    if (!active()) return REAL(arc4random_uniform)(n);
    return n == 0 ? 0 : choose(n);
}

FENCEPOST_INTERPOSE int sched_getcpu() noexcept {
    if (!active()) return REAL(sched_getcpu)();
    static long processors = 0;
    if (processors <= 0) processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors <= 0 ? 0 : static_cast<int>(detail::self->id % static_cast<unsigned long>(processors));
}
