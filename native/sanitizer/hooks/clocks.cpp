// Clocks and sleeps under a schedule (schedule/time.hpp).
#include <errno.h>
#include <sched.h>
#include <sys/time.h>
#include <threads.h>
#include <unistd.h>

#include "sanitizer/hooks/interpose.hpp"
#include "sanitizer/schedule/execution.hpp"
#include "sanitizer/schedule/scheduler.hpp"
#include "sanitizer/schedule/state.hpp"
#include "sanitizer/schedule/time.hpp"
#include "sanitizer/schedule/waits.hpp"
#include "sanitizer/system/real.hpp"

using namespace fencepost::scheduler;

namespace {

constexpr std::int64_t second = 1'000'000'000;

// Reading a clock is a step: programs wait for a time by reading it again and again.
bool read_clock(clockid_t clock, timespec& time) {
    std::int64_t by;
    if (!active() || !clock_offset(clock, by)) return false;
    point();
    if (detail::as_explored) {
        ++detail::self->clock_reads;
        execution::note_untried(execution::clocks);
    }
    time = {(now() + by) / second, (now() + by) % second};
    return true;
}

bool valid(timespec const& time) {
    return time.tv_sec >= 0 && time.tv_nsec >= 0 && time.tv_nsec < second;
}

// Returns what is left, if a signal came first.
std::int64_t sleep_until(std::int64_t deadline) {
    point();
    if (detail::as_explored) {  // others may do as much meanwhile as they like
        detail::pass_time_until(deadline);
        return 0;
    }
    Wait wait{[](void*) { return false; }, nullptr, nullptr, "sleep"};
    wait.deadline = deadline;
    wait.interruptible = true;
    detail::block_or_be_cancelled(wait);
    return now() < deadline ? deadline - now() : 0;
}

int fails(int error) {
    errno = error;
    return -1;
}

}  // namespace

FENCEPOST_INTERPOSE int clock_gettime(clockid_t clock, timespec* time) noexcept {
    return read_clock(clock, *time) ? 0 : REAL(clock_gettime)(clock, time);
}

FENCEPOST_INTERPOSE int gettimeofday(timeval* __restrict time, void* __restrict zone) noexcept {
    timespec now{};
    if (!read_clock(CLOCK_REALTIME, now)) return REAL(gettimeofday)(time, zone);
    *time = {now.tv_sec, now.tv_nsec / 1000};
    return 0;
}

FENCEPOST_INTERPOSE time_t time(time_t* result) noexcept {
    timespec now{};
    if (!read_clock(CLOCK_REALTIME, now)) return REAL(time)(result);
    if (result != nullptr) *result = now.tv_sec;
    return now.tv_sec;
}

FENCEPOST_INTERPOSE int timespec_get(timespec* time, int base) noexcept {
    return base == TIME_UTC && read_clock(CLOCK_REALTIME, *time) ? base : REAL(timespec_get)(time, base);
}

FENCEPOST_INTERPOSE clock_t clock() noexcept {
    timespec now{};
    if (!read_clock(CLOCK_PROCESS_CPUTIME_ID, now)) return REAL(clock)();
    return now.tv_sec * CLOCKS_PER_SEC + now.tv_nsec / (1'000'000'000 / CLOCKS_PER_SEC);
}

FENCEPOST_INTERPOSE int clock_nanosleep(clockid_t clock, int flags, timespec const* time, timespec* left) {
    if (!active()) return REAL(clock_nanosleep)(clock, flags, time, left);
    if (!valid(*time)) return EINVAL;
    bool const absolute = (flags & TIMER_ABSTIME) != 0;
    std::int64_t const rest =
        sleep_until(absolute ? schedule_time(*time, clock) : later(now(), nanoseconds(*time)));
    if (rest == 0) return 0;
    if (!absolute && left != nullptr) *left = {rest / second, rest % second};
    return EINTR;
}

FENCEPOST_INTERPOSE int nanosleep(timespec const* time, timespec* left) {
    if (!active()) return REAL(nanosleep)(time, left);
    int const error = clock_nanosleep(CLOCK_MONOTONIC, 0, time, left);
    return error == 0 ? 0 : fails(error);
}

FENCEPOST_INTERPOSE unsigned sleep(unsigned seconds) {
    if (!active()) return REAL(sleep)(seconds);
    return static_cast<unsigned>((sleep_until(later(now(), seconds * second)) + second - 1) / second);
}

FENCEPOST_INTERPOSE int usleep(useconds_t microseconds) {
    if (!active()) return REAL(usleep)(microseconds);
    return sleep_until(later(now(), microseconds * 1000ll)) == 0 ? 0 : fails(EINTR);
}

FENCEPOST_INTERPOSE int thrd_sleep(timespec const* time, timespec* left) {
    if (!active()) return REAL(thrd_sleep)(time, left);
    int const error = clock_nanosleep(CLOCK_MONOTONIC, 0, time, left);
    return error == 0 ? 0 : error == EINTR ? -1 : -2;
}

FENCEPOST_INTERPOSE int sched_yield() noexcept {
    if (!active()) return REAL(sched_yield)();
    yield_point();
    return 0;
}

FENCEPOST_INTERPOSE void thrd_yield() {
    if (!active()) return REAL(thrd_yield)();
    yield_point();
}
