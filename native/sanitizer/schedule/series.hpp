// A run of a series (series.cpp): what the rest of the scheduler tells it.
#pragma once

#include <cstdint>

namespace fencepost::scheduler::series {

// Is this process a run of a series, or several, one after the other?
bool is_run();

// How it went, for those who repeat it: which thread ran for how many steps.
void note_switch(std::uint64_t steps, std::uint32_t to);
void note_thread();

// The run ends in order. Does not return if another begins in this process.
void run_ends(int code);

// Changes with each run. Null if this process is no run.
std::uint64_t const* run_number();

}  // namespace fencepost::scheduler::series
