// Clocks under a schedule: all of them go with its steps (scheduler.hpp) and show the same in every run.
#pragma once

#include <time.h>

#include <cstdint>

namespace fencepost::scheduler {

// A time too far away is INT64_MAX, which is `never`.
std::int64_t nanoseconds(timespec const&);
std::int64_t later(std::int64_t time, std::int64_t nanoseconds);

// How far the clock is ahead of now(); false if it is none of those that tell the time.
bool clock_offset(clockid_t, std::int64_t& offset);

// The time on that clock, as now() will tell it.
std::int64_t schedule_time(timespec const&, clockid_t);

}  // namespace fencepost::scheduler
