// Runs all executions (exploration.hpp): this process stays where the program has not begun, plans, and forks
// a child for each execution, which goes on into the program. What the program did before its first thread is
// the same each time, and addresses are, too.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "sanitizer/core/threads.hpp"
#include "sanitizer/schedule/execution.hpp"
#include "sanitizer/schedule/exploration.hpp"
#include "sanitizer/schedule/rounds.hpp"
#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/syscalls.hpp"
#include "sanitizer/system/text.hpp"

// As `fork`, without the handlers of pthread_atfork: those are for the program's own forks. (glibc 2.34)
extern "C" [[gnu::weak]] pid_t _Fork() noexcept;

namespace fencepost::scheduler {
namespace {

using execution::Outcome;
using execution::shared;

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t between_reports = second / 4;
constexpr std::size_t kept_output = 4000;

struct Server {
    Exploration exploration;
    ExplorationReport report{};
    std::int64_t started, reported;
    bool owns_output;  // standard output is a file for one execution

    explicit Server(ScFences fences) : exploration(fences) {}
};

std::int64_t real_time() {
    timespec time{};
    kernel::call(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    return time.tv_sec * second + time.tv_nsec;
}

void prepare(Server& server) {
    Exploration const& exploration = server.exploration;
    shared->planned = static_cast<std::uint32_t>(exploration.plan().size());
    shared->changed = static_cast<std::uint32_t>(exploration.changed());
    shared->asleep = static_cast<std::uint32_t>(exploration.sleeping().size());
    std::copy(exploration.plan().begin(), exploration.plan().end(), shared->plan);
    std::copy(exploration.sleeping().begin(), exploration.sleeping().end(), shared->sleeping);
    shared->outcome = Outcome::running;
    shared->told_something = false;
    shared->events_count = shared->switches_count = 0;
    shared->steps = 0;
    if (server.owns_output) kernel::call(SYS_ftruncate, STDOUT_FILENO, 0);
}

void begin_execution(long server) {
    kernel::call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
    if (kernel::call(SYS_getppid) != server) kernel::call(SYS_exit_group, 1);
    in_child_of_fork();
    only_fiber(detail::self->fiber);
    execution::begin(options.schedule);
    execution_begins();
}

int await_end(pid_t child) {
    int status = 0;
    while (kernel::call(SYS_wait4, child, &status, 0, nullptr) == -EINTR) {
    }
    return status;
}

void put_decisions(Text& text) {
    text << "fencepost decisions 1\nseed " << options.schedule.seed << "\n";
    if (options.schedule.failing != 0) text << "failing " << options.schedule.failing << "\n";
    text << "choices";
    for (std::uint32_t i = 0; i < shared->events_count; ++i)
        if (shared->events[i].act == Act::choose) text << " " << shared->events[i].chosen;
    text << "\n0 ";
    for (std::uint32_t i = 0; i < shared->switches_count; ++i)
        text << shared->switches[i].steps << "\n" << shared->switches[i].to << " ";
}

// The end of what the execution has printed, as ASCII.
std::size_t read_output(char (&into)[kept_output]) {
    long const end = kernel::call(SYS_lseek, STDOUT_FILENO, 0, SEEK_END);
    long const from = std::max<long>(end - static_cast<long>(kept_output), 0);
    long const bytes = kernel::call(SYS_pread64, STDOUT_FILENO, into, kept_output, from);
    if (bytes <= 0) return 0;
    for (long i = 0; i < bytes; ++i)
        if (static_cast<unsigned char>(into[i]) >= 0x80) into[i] = '?';
    return static_cast<std::size_t>(bytes);
}

char const* trouble_of(Outcome outcome) {
    switch (outcome) {
        case Outcome::cut:
            return "a loop that is not known to wait went round too often";
        case Outcome::too_long:
            return "there were too many steps";
        case Outcome::running:
            return "the process was killed";
        default:
            return "";
    }
}

void report_if_new(Server const& server, int status) {
    char const* const trouble = trouble_of(shared->outcome);
    int const code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    int const number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    std::uint64_t const failure = static_cast<std::uint64_t>(code) << 16 |
                                  static_cast<std::uint64_t>(number) << 8 |
                                  static_cast<std::uint64_t>(shared->outcome);
    bool const stuck = shared->outcome == Outcome::stuck;
    bool const failed = (code != 0 && !stuck) || number != 0 || *trouble != '\0';
    bool const found = shared->told_something;
    if (!(failed && is_news(failure)) && !found) return;
    Text decisions;
    put_decisions(decisions);
    char output[kept_output];
    std::size_t const printed = server.owns_output && failed ? read_output(output) : 0;
    report_execution(
        {server.report.executions, stuck ? 0 : code, number, trouble, decisions.view(), {output, printed}});
}

// Is there to be another execution?
bool take_in(Server& server, int status) {
    auto& report = server.report;
    report.steps += shared->steps;
    switch (shared->outcome) {
        case Outcome::in_vain:
            ++report.in_vain;
            server.exploration.abandoned(shared->events, shared->events_count);
            return true;
        case Outcome::idle:
            ++report.in_vain;
            server.exploration.completed(shared->events, shared->events_count);
            return true;
        case Outcome::bounded:
            ++report.bounded;
            server.exploration.abandoned(shared->events, shared->events_count);
            return true;
        case Outcome::round:  // what was taken for a race may be none, and hide another
            report.in_vain += report.executions + 1;
            report.executions = report.cut = report.bounded = 0;
            server.exploration.restart();
            return true;
        case Outcome::apart:
            report.why = "the program does not repeat itself";
            report.wanted = &shared->wanted;
            report.met = &shared->met;
            return false;
        case Outcome::cut:
        case Outcome::too_long:
        case Outcome::running:
            ++report.cut;
            break;
        case Outcome::ended:
        case Outcome::stuck:
            break;
    }
    ++report.executions;
    report_if_new(server, status);
    server.exploration.completed(shared->events, shared->events_count);
    return !(options.schedule.first && (shared->told_something || status != 0));
}

bool within_limits(Server& server) {
    auto& report = server.report;
    auto const& limits = options.schedule;
    std::int64_t const now = real_time();
    if (limits.executions != 0 && report.executions >= limits.executions)
        report.why = "the limit on executions was reached";
    if (limits.seconds != 0 && now - server.started >= static_cast<std::int64_t>(limits.seconds) * second)
        report.why = "the time limit was reached";
    if (now - server.reported >= between_reports) {
        server.reported = now;
        report.share = server.exploration.share();
        report.untried = shared->untried;
        report.atomics = shared->atomics;
        report_exploration(report, false);
    }
    return *report.why == '\0';
}

// Returns in each child; the server itself ends here.
void run_all() {
    void* const place = memory::pages(sizeof(Server));
    ScFences const fences = options.schedule.sc_fences_commute ? ScFences::commute : ScFences::ordered;
    Server& server = *new (place) Server(fences);  // children must not take it apart
    server.report.why = "";
    server.started = server.reported = real_time();
    struct stat file{};
    server.owns_output = options.run_by != 0 && fstat(STDOUT_FILENO, &file) == 0 && S_ISREG(file.st_mode);
    long const self = kernel::call(SYS_getpid);
    bool go_on = true;
    while (go_on) {
        prepare(server);
        pid_t const child = _Fork();
        if (child < 0) stop_with("fencepost: the system has no process left for an execution\n");
        if (child == 0) return begin_execution(self);
        go_on = take_in(server, await_end(child));
        if (!go_on && *server.report.why == '\0') server.report.why = "it was to stop at the first finding";
        if (!go_on) break;
        bool const again = shared->outcome == Outcome::round;
        if (!again && !server.exploration.advance()) break;
        go_on = within_limits(server);
    }
    server.report.share = *server.report.why == '\0' ? 1 : server.exploration.share();
    server.report.untried = shared->untried;
    server.report.atomics = shared->atomics;
    report_exploration(server.report, true);
    for (;;) kernel::call(SYS_exit_group, 0);
}

void serve(int, char**, char**) {
    if (!exploring()) return;
    if (_Fork == nullptr) stop_with("fencepost: schedule=explore needs version 2.34 of the C library\n");
    start_rounds();
    shared = static_cast<execution::Shared*>(kernel::map(sizeof(execution::Shared), PROT_READ | PROT_WRITE,
                                                         MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE));
    if (shared == nullptr) stop_with("fencepost: the system has no memory left for an exploration\n");
    run_all();
}

// After addresses have been fixed (addresses.cpp is linked before this file), and before the program's
// constructors.
[[gnu::section(".preinit_array"), gnu::used]] void (*const third)(int, char**, char**) = serve;

}  // namespace
}  // namespace fencepost::scheduler
