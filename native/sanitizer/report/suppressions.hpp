// Findings that the user does not want to see: a file of lines `robustness:PATTERN` or `race:PATTERN`, in
// which `*` stands for any text. A pattern may match anywhere in a function, a line or a module of one of
// both stacks, or in the name of the location. Lines that begin with # are comments.
//
// The waiter pool behind C++20's atomic waits in libstdc++ is always left out: a thread that misses a waiter
// there is put right by the kernel, which looks at the value again.
#pragma once

namespace fencepost {

struct Finding;
struct RaceFinding;

void read_suppressions();
bool is_suppressed(Finding const&);
bool is_suppressed(RaceFinding const&);

}  // namespace fencepost
