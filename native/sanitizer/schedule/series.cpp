// Many runs of one program, each with a seed of its own (runs=N): this process stays where the program has
// not begun, and forks processes for the runs. That is sooner than starting the program anew, and otherwise
// the same. All runs write to the same files, one for events and one for what the program prints. When a run
// has ended, a line goes to standard output, which is not the program's: the run's number, how it ended, as
// `wait` has it, where its events end, and where its output begins and ends.
//
// The first run has a process of its own. The next process repeats it, in the way of an exploration: with
// threads that were made before (lending.hpp), and if the threads took turns as they did, this process goes
// back to the beginning for each further run (restart.hpp). Where that is not possible, each run has its own
// process.
#include "sanitizer/schedule/series.hpp"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string_view>

#include "sanitizer/core/threads.hpp"
#include "sanitizer/schedule/lending.hpp"
#include "sanitizer/schedule/restart.hpp"
#include "sanitizer/schedule/scheduler.hpp"
#include "sanitizer/schedule/watchdog.hpp"
#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/syscalls.hpp"
#include "sanitizer/system/text.hpp"

// As `fork`, without the handlers of pthread_atfork: those are for the program's own forks. (glibc 2.34)
extern "C" [[gnu::weak]] pid_t _Fork() noexcept;

namespace fencepost::scheduler::series {
namespace {

constexpr std::int64_t second = 1'000'000'000, millisecond = 1'000'000;
constexpr std::int64_t time_to_end = second;               // for a run that has been told to
constexpr std::size_t pages_ahead = std::size_t{1} << 29;  // of the library, for a run
constexpr std::uint32_t few_returns = 4, most_failures = 3, most_threads = 64;
constexpr int first_own_descriptor = 900;  // above those that programs use
constexpr std::uint64_t none = UINT64_MAX;

struct HowItWent {
    std::uint64_t turns;  // hashed
    std::uint64_t steps;
    int code;

    bool operator==(HowItWent const&) const = default;
};

// In memory that all processes share.
struct Series {
    std::uint64_t number;  // of the run that goes on, or the next one
    std::int64_t began;
    std::uint64_t late;  // the run that has been told to end; none: no run
    bool over;
    bool rehearses;  // the run that goes on has been run before
    bool repeats;    // it went in the same way then
    bool goes_apart;
    HowItWent last;
    std::uint32_t threads;   // that the last run made
    std::uint32_t returned;  // so often in this process
    std::uint32_t failed_returns;
    bool knows_last;
    int lines;              // a file
    int output;             // the program's; -1: as it is
    std::uint64_t printed;  // its size where the run began
};
Series* series = nullptr;
bool in_memory = false;
long process = 0;         // that the runs are made in, if it is this one
std::uint64_t turns = 0;  // of this run, hashed
std::uint32_t threads = 0;
std::uint64_t first_seed = 0;

std::int64_t real_time() {
    timespec time{};
    kernel::call(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    return time.tv_sec * second + time.tv_nsec;
}

int moved_up(long file) {
    if (kernel::failed(file)) return -1;
    return static_cast<int>(kernel::call(SYS_fcntl, file, F_DUPFD_CLOEXEC, first_own_descriptor));
}

void open_output() {
    series->lines = moved_up(STDOUT_FILENO);
    series->output = -1;
    if (options.output == nullptr) return;
    constexpr int flags = O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
    long const file = kernel::call(SYS_openat, AT_FDCWD, options.output, flags, 0666);
    series->output = moved_up(file);
    if (!kernel::failed(file)) kernel::call(SYS_close, file);
}

void redirect_output() {
    if (series->output < 0) return;
    kernel::call(SYS_dup2, series->output, STDOUT_FILENO);
    kernel::call(SYS_dup2, series->output, STDERR_FILENO);
}

std::uint64_t printed_so_far() {
    long const end = series->output < 0 ? 0 : kernel::call(SYS_lseek, series->output, 0, SEEK_END);
    return kernel::failed(end) ? 0 : static_cast<std::uint64_t>(end);
}

void tell_end(std::uint64_t number, std::string_view how) {
    Text line;
    line << "fencepost run " << number << " " << how << " " << events_so_far() << " " << series->printed
         << " " << printed_so_far() << "\n";
    line.write_to(series->lines);
}

void tell_status(std::uint64_t number, int status) {
    Text how;
    how << static_cast<std::uint64_t>(status);
    tell_end(number, how.view());
}

// A rehearsal tells nothing.
void begin_run() {
    restart::OwnCalls const own;
    options.run_number = series->rehearses ? -1 : static_cast<std::int64_t>(series->number);
    options.schedule.seed = first_seed + series->number;
    series->began = real_time();
    series->printed = printed_so_far();
    start_again(options.schedule);
    run_begins(!series->rehearses);
}

// Goes on into the program.
void begin_process(long parent, bool memory, std::uint64_t mask) {
    in_memory = memory;
    process = kernel::call(SYS_getpid);
    kernel::call(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, sizeof mask);
    kernel::call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
    if (kernel::call(SYS_getppid) != parent) kernel::call(SYS_exit_group, 1);
    redirect_output();
    in_child_of_fork();
    if (in_memory) {
        prepare_to_repeat(series->threads);
        watchdog::start();
        kernel::map_ahead(pages_ahead);
        restart::begin();
    }
    begin_run();
}

// Waits no longer than that, in nanoseconds. SIGCHLD is blocked.
bool has_ended(pid_t child, int& status, std::int64_t limit) {
    std::int64_t const end = limit == never ? never : real_time() + limit;
    for (;;) {
        if (kernel::call(SYS_wait4, child, &status, WNOHANG, nullptr) != 0) return true;
        std::int64_t const left = end == never ? never : end - real_time();
        if (left <= 0) return false;
        std::uint64_t const signals = std::uint64_t{1} << (SIGCHLD - 1);
        timespec const pause{left / second, left % second};
        kernel::call(SYS_rt_sigtimedwait, &signals, nullptr, left == never ? nullptr : &pause,
                     sizeof signals);
    }
}

// Runs that take longer than they may are told to end.
int await_end(pid_t child) {
    std::int64_t const limit = options.schedule.run_limit * millisecond;
    int status = 0;
    for (std::int64_t left = limit == 0 ? never : limit; !has_ended(child, status, left);) {
        left = series->began + limit - real_time();
        if (left > 0) continue;
        series->late = series->number;
        kernel::call(SYS_kill, child, SIGTERM);
        if (has_ended(child, status, time_to_end)) break;
        kernel::call(SYS_kill, child, SIGKILL);
        left = never;
    }
    return status;
}

// Is it worth a process that goes back to the beginning?
bool should_return() {
    using Restart = Settings::Restart;
    if (options.schedule.restart == Restart::fork || !series->knows_last || !can_repeat()) return false;
    if (series->threads > most_threads || series->goes_apart) return false;
    return series->failed_returns < most_failures || options.schedule.restart == Restart::memory;
}

// The process has ended in the middle of a run, which was its last.
void take_in_end(int status, bool memory) {
    bool const led_on = series->returned >= few_returns;
    if (memory) series->failed_returns = led_on ? 0 : series->failed_returns + 1;
    if (series->over) return;
    if (series->rehearses) {
        series->goes_apart = true;
        return;
    }
    if (series->late == series->number)
        tell_end(series->number, "late");
    else if (series->late != none)  // it was too late for that, and met the next one
        return;
    else
        tell_status(series->number, status);
    series->number += options.schedule.stride;
}

// Returns in each process of runs; this process itself ends here.
void serve(int, char**, char**) {
    auto const& asked = options.schedule;
    if (!active() || exploring() || asked.runs == 0 || _Fork == nullptr) return;
    series = static_cast<Series*>(memory::shared_pages(sizeof(Series)));
    if (series == nullptr) stop_with("fencepost: the system has no memory left for a series of runs\n");
    long const self = kernel::call(SYS_getpid);
    std::uint64_t const child_signal = std::uint64_t{1} << (SIGCHLD - 1);
    std::uint64_t mask = 0;
    kernel::call(SYS_rt_sigprocmask, SIG_BLOCK, &child_signal, &mask, sizeof mask);
    first_seed = asked.seed;
    open_output();
    series->number = asked.first_run;
    while (series->number < asked.runs && !series->over) {
        bool const memory = should_return();
        series->rehearses = memory && !series->repeats;
        if (series->rehearses) series->number -= asked.stride;
        series->late = none;
        series->returned = 0;
        series->began = real_time();
        pid_t const child = _Fork();
        if (child < 0) stop_with("fencepost: the system has no process left for a run\n");
        if (child == 0) return begin_process(self, memory, mask);
        bool const rehearsed = series->rehearses;
        take_in_end(await_end(child), memory);
        if (rehearsed && series->rehearses) series->number += asked.stride;
    }
    for (;;) kernel::call(SYS_exit_group, 0);
}

// After addresses have been fixed (addresses.cpp is linked before this file), and before the program's
// constructors.
[[gnu::section(".preinit_array"), gnu::used]] void (*const fourth)(int, char**, char**) = serve;

HowItWent this_run(int code) {
    return {turns, steps(), code};
}

int code_at_end = 0;

// Ends the process if there is no further run, or if there should be none here.
void between_runs() {
    if (series->late == series->number) kernel::call(SYS_exit_group, code_at_end);
    if (!series->rehearses) tell_status(series->number, code_at_end << 8);
    series->rehearses = false;
    ++series->returned;
    series->number += options.schedule.stride;
    if (series->number < options.schedule.runs) return;
    series->over = true;
    for (;;) kernel::call(SYS_exit_group, 0);
}

}  // namespace

bool is_run() {
    return process != 0;
}

void note_switch(std::uint64_t steps, std::uint32_t to) {
    turns = ((turns ^ steps) * 0x9e3779b97f4a7c15u ^ to) * 0xbf58476d1ce4e5b9u;
}

void note_thread() {
    ++threads;
}

void run_ends(int code) {
    if (process == 0 || process != kernel::call(SYS_getpid)) return;
    HowItWent const now = this_run(code & 0xff);
    if (!in_memory) {
        series->last = now;
        series->threads = threads;
        series->knows_last = true;
        return;
    }
    if (series->rehearses && now != series->last) return;
    if (!restart::is_possible()) return;
    series->repeats = true;
    code_at_end = code & 0xff;
    restart::go_back(between_runs);
}

std::uint64_t const* run_number() {
    return series == nullptr ? nullptr : &series->number;
}

}  // namespace fencepost::scheduler::series
