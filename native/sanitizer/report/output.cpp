#include "sanitizer/report/output.hpp"

#include <fcntl.h>

#include "sanitizer/core/threads.hpp"
#include "sanitizer/system/options.hpp"
#include "sanitizer/system/syscalls.hpp"
#include "sanitizer/system/text.hpp"

namespace fencepost {

int open_output(char const* path) {
    char const* const name = with_numbers(path);
    auto const file = static_cast<int>(
        kernel::call(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_APPEND, 0644));
    if (file >= 0) return file;
    Text warning;
    warning << "fencepost: cannot write " << name << ", named in FENCEPOST_OPTIONS\n";
    warning.write_to(2);
    return -1;
}

std::uint64_t process_number() {
    return static_cast<std::uint64_t>(kernel::call(SYS_getpid));
}

Stack stack_of(scheduler::Blocked const& blocked) {
    for (Thread* t = all_threads; t != nullptr; t = t->next)
        if (t->id == blocked.thread && t->state != Thread::State::unused)
            return walk_stack(*t, blocked.frame, stack_depth);
    return {};
}

}  // namespace fencepost
