// Runs a program and reads what it prints, by system calls alone: the C library might come back into the
// program, to its malloc for instance, and we are in a hook.
#pragma once

#include "sanitizer/system/text.hpp"

namespace fencepost {

// `arguments` ends with a null pointer; its first is looked up in PATH. False if it could not be run or
// failed.
bool run_and_read(char const* const* arguments, Text& output);

}  // namespace fencepost
