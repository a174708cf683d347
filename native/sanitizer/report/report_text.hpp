// The report for people who run the program itself, in the manner of ThreadSanitizer's.
#pragma once

#include <cstdint>

#include "sanitizer/schedule/scheduler.hpp"

namespace fencepost {

struct Finding;
struct RaceFinding;

void open_text();

// Looks up all symbols of a finding at once.
void symbolise(Finding const&);
void symbolise(RaceFinding const&);

void text_finding(Finding const&);
void text_repairs(Finding const&);  // all
void text_race(RaceFinding const&);
void text_deadlock(scheduler::Blocked const* threads, std::size_t count);
void text_step_limit(std::uint64_t steps);
void text_end(std::uint64_t findings);

}  // namespace fencepost
