#include "sanitizer/system/subprocess.hpp"

#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <signal.h>

#include "sanitizer/system/syscalls.hpp"

extern "C" char** environ;

namespace fencepost {

using kernel::call;

namespace {

constexpr long interrupted = -4;  // EINTR
constexpr std::string_view usual_path = "/usr/local/bin:/usr/bin:/bin";

std::string_view search_path() {
    constexpr std::string_view variable = "PATH=";
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        std::string_view text(*entry);
        if (!text.starts_with(variable)) continue;
        text.remove_prefix(variable.size());
        return text;
    }
    return usual_path;
}

// In the child, which has its own copy of our memory, and of locks that other threads may have held: nothing
// may be allocated here. Returns if there is no such program.
void execute(char const* const* arguments) {
    std::string_view const name(arguments[0]);
    for (std::string_view path = search_path(); !path.empty();) {
        std::size_t const colon = path.find(':');
        std::string_view const directory(path.data(), colon < path.size() ? colon : path.size());
        path.remove_prefix(directory.size() < path.size() ? directory.size() + 1 : directory.size());
        char file[PATH_MAX];
        if (directory.size() + name.size() + 2 > sizeof file) continue;
        char* end = file;
        for (std::string_view const part : {directory, std::string_view("/"), name})
            end = static_cast<char*>(__builtin_memcpy(end, part.data(), part.size())) + part.size();
        *end = '\0';
        call(SYS_execve, file, arguments, environ);
    }
}

void be_child(char const* const* arguments, int output) {
    long const nothing = call(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR, 0);
    call(SYS_dup3, nothing, 0, 0);
    call(SYS_dup3, output, 1, 0);
    call(SYS_dup3, nothing, 2, 0);
    execute(arguments);
    for (;;) call(SYS_exit_group, 127);
}

void read_all(int descriptor, Text& output) {
    char buffer[4096];
    for (;;) {
        long const bytes = call(SYS_read, descriptor, buffer, sizeof buffer);
        if (bytes == interrupted) continue;
        if (bytes <= 0) return;
        output << std::string_view(buffer, static_cast<std::size_t>(bytes));
    }
}

bool ended_well(long child) {
    int status = 0;
    long answer;
    do answer = call(SYS_wait4, child, &status, 0, nullptr);
    while (answer == interrupted);
    return answer < 0 || status == 0;  // the program may have waited for it instead of us
}

}  // namespace

bool run_and_read(char const* const* arguments, Text& output) {
    int ends[2];
    if (call(SYS_pipe2, ends, O_CLOEXEC) != 0) return false;
    long const child = call(SYS_clone, SIGCHLD | CLONE_VFORK, nullptr, nullptr, nullptr, 0);
    if (child == 0) be_child(arguments, ends[1]);
    call(SYS_close, ends[1]);
    if (child > 0) read_all(ends[0], output);
    call(SYS_close, ends[0]);
    return child > 0 && ended_well(child);
}

}  // namespace fencepost
