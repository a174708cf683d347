// The file of decisions: which threads ran, in which order, for how many steps each. Text, so that it can be
// read, compared and cut:
//
//   fencepost decisions 1
//   seed 7
//   0 12
//   1 3
//   …
//
// What an exploration has run begins with its choices: `choices 0 1 0`. Before that there may be the number
// of allocations that were to fail, `failing 1`, and that of threads that were made before the program began,
// `threads 2` (lending.hpp).
//
// The last thread runs to the end, and has no number of steps: it may have been in the middle of one. The
// file is written through a shared mapping: what has been decided is there even if the program is killed;
// then zeros follow.
#pragma once

#include <cstdint>

namespace fencepost::scheduler::decisions {

struct Run {
    std::uint32_t thread;
    std::uint64_t steps;
};

// Ends the process with a message if the file cannot be written.
void open_to_write(char const* path, std::uint64_t seed, std::uint32_t first_thread);
bool writing();
// For the files that follow: a replay is to make as many threads before the program begins.
void note_threads_made_before(std::uint32_t count);
// The running thread has taken so many steps, and another one goes on.
void write_switch(std::uint64_t steps, std::uint32_t to_thread);
void close_written();
// In the child of a fork: the file is the parent's.
void abandon();

// Ends the process with a message if the file cannot be read or is not one of decisions. Returns its seed.
std::uint64_t open_to_read(char const* path);
// The next one; false at the end of the file.
bool read(Run&);
bool of_exploration();
std::uint32_t failing_allocations();
bool were_threads_made_before();
std::uint32_t threads_made_before();
// 0 if there are no more.
std::uint32_t read_choice();

}  // namespace fencepost::scheduler::decisions
