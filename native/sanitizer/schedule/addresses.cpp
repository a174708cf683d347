// Under a schedule addresses repeat (system/fixed_addresses.hpp).
#include "sanitizer/schedule/scheduler.hpp"
#include "sanitizer/system/fixed_addresses.hpp"

namespace fencepost::scheduler {
namespace {

void fix_addresses_of_schedule(int, char** arguments, char** environment) {
    if (active()) fix_addresses(arguments, environment);
}

// After the library's own beginning (runtime.cpp is linked before this file), which has read the options.
[[gnu::section(".preinit_array"), gnu::used]] void (*const second)(int, char**,
                                                                   char**) = fix_addresses_of_schedule;

}  // namespace
}  // namespace fencepost::scheduler
