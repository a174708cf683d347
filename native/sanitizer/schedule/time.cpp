#include "sanitizer/schedule/time.hpp"

namespace fencepost::scheduler {
namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t time_of_day = 1'700'000'000 * second;  // when now() is 0; a day in November 2023

}  // namespace

bool clock_offset(clockid_t clock, std::int64_t& by) {
    switch (clock) {
        case CLOCK_REALTIME:
        case CLOCK_REALTIME_COARSE:
        case CLOCK_REALTIME_ALARM:
        case CLOCK_TAI:
            by = time_of_day;
            return true;
        case CLOCK_MONOTONIC:
        case CLOCK_MONOTONIC_RAW:
        case CLOCK_MONOTONIC_COARSE:
        case CLOCK_BOOTTIME:
        case CLOCK_BOOTTIME_ALARM:
        case CLOCK_PROCESS_CPUTIME_ID:
        case CLOCK_THREAD_CPUTIME_ID:
            by = 0;
            return true;
        default:
            return false;
    }
}

std::int64_t nanoseconds(timespec const& time) {
    std::int64_t result;
    bool const too_far = __builtin_mul_overflow(time.tv_sec, second, &result) ||
                         __builtin_add_overflow(result, time.tv_nsec, &result);
    return too_far ? INT64_MAX : result;
}

std::int64_t later(std::int64_t time, std::int64_t by) {
    std::int64_t result;
    return __builtin_add_overflow(time, by, &result) ? INT64_MAX : result;
}

std::int64_t schedule_time(timespec const& time, clockid_t clock) {
    std::int64_t const there = nanoseconds(time);
    std::int64_t by = 0;
    return there == INT64_MAX || !clock_offset(clock, by) ? there : there - by;
}

}  // namespace fencepost::scheduler
