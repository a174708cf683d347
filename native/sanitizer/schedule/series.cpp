// Many runs of one program, each with a seed of its own (runs=N): this process stays where the program has
// not begun, and forks a process for each run. That is sooner than starting the program anew, and otherwise
// the same. When a run has ended, a line with its number and how it ended, as `wait` has it, goes to standard
// output, which is not the program's.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sanitizer/core/threads.hpp"
#include "sanitizer/schedule/scheduler.hpp"
#include "sanitizer/system/syscalls.hpp"
#include "sanitizer/system/text.hpp"

// As `fork`, without the handlers of pthread_atfork: those are for the program's own forks. (glibc 2.34)
extern "C" [[gnu::weak]] pid_t _Fork() noexcept;

namespace fencepost::scheduler {
namespace {

void redirect_output() {
    if (options.output == nullptr) return;
    constexpr int flags = O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
    long const file = kernel::call(SYS_openat, AT_FDCWD, with_numbers(options.output), flags, 0666);
    if (kernel::failed(file)) return;
    kernel::call(SYS_dup2, file, STDOUT_FILENO);
    kernel::call(SYS_dup2, file, STDERR_FILENO);
    if (file > STDERR_FILENO) kernel::call(SYS_close, file);
}

void begin_run(std::uint64_t number, long parent) {
    kernel::call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
    if (kernel::call(SYS_getppid) != parent) kernel::call(SYS_exit_group, 1);
    options.run_number = static_cast<std::int64_t>(number);
    options.schedule.seed += number;
    redirect_output();
    in_child_of_fork();
    start_again(options.schedule);
    run_begins();
}

int await_end(pid_t child) {
    int status = 0;
    while (kernel::call(SYS_wait4, child, &status, 0, nullptr) == -EINTR) {
    }
    return status;
}

// Returns in each run; this process itself ends here.
void run_series(int, char**, char**) {
    if (!active() || exploring() || options.schedule.runs == 0 || _Fork == nullptr) return;
    long const self = kernel::call(SYS_getpid);
    for (std::uint64_t i = options.schedule.first_run; i < options.schedule.runs;
         i += options.schedule.stride) {
        pid_t const child = _Fork();
        if (child < 0) stop_with("fencepost: the system has no process left for a run\n");
        if (child == 0) return begin_run(i, self);
        Text line;
        line << "fencepost run " << i << " " << static_cast<std::uint64_t>(await_end(child)) << "\n";
        line.write_to(STDOUT_FILENO);
    }
    for (;;) kernel::call(SYS_exit_group, 0);
}

// After addresses have been fixed (addresses.cpp is linked before this file), and before the program's
// constructors.
[[gnu::section(".preinit_array"), gnu::used]] void (*const fourth)(int, char**, char**) = run_series;

}  // namespace
}  // namespace fencepost::scheduler
