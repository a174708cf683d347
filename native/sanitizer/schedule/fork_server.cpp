// Runs all executions (exploration.hpp). This process stays where the program has not begun, and forks a
// process for each walk, which goes on into the program. At the end of an execution it plans the next one and
// goes back to the beginning (restart.hpp). If it cannot, or if the program has crashed, it ends, and another
// is forked. What the program did before its first thread is the same each time, and addresses are, too.
//
// All that is known of the exploration lies in shared memory, which one process changes at a time: mostly
// that of the walk, and this one for a process that has ended.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "sanitizer/core/threads.hpp"
#include "sanitizer/schedule/decisions.hpp"
#include "sanitizer/schedule/execution.hpp"
#include "sanitizer/schedule/exploration.hpp"
#include "sanitizer/schedule/lending.hpp"
#include "sanitizer/schedule/restart.hpp"
#include "sanitizer/schedule/rounds.hpp"
#include "sanitizer/schedule/saved_exploration.hpp"
#include "sanitizer/schedule/series.hpp"
#include "sanitizer/system/lock.hpp"
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
constexpr std::int64_t between_reports = second / 4, least_between_saves = second / 10;
constexpr std::size_t kept_output = 4000;
constexpr std::uint32_t most_walks = 256;
constexpr std::size_t pages_ahead = std::size_t{1} << 29;  // of the library, for an execution
constexpr std::uint64_t forks_first = 8;                   // what is soon over is not worth more
constexpr std::uint32_t few_returns = 4, most_failures = 3;

// One of those that share the work.
struct Slot {
    Walk* walk;
    std::uint32_t number;
    long process;
    bool running;            // an execution
    bool returns;            // to the beginning, if it can
    std::uint32_t returned;  // so often in this process
    int output;              // a file for one execution; -1: none
    execution::Shared execution;
};

struct Server {
    Lock lock;
    long holder;         // of the lock, a process
    std::uint32_t news;  // goes on when there may be something to do
    bool over;
    bool alone;  // the first execution, which shows how many threads there are; it does not count
    std::uint32_t threads;
    std::uint32_t failed_returns;
    memory::Pool* pool;
    Exploration* exploration;
    ExplorationReport report;
    std::int64_t started, reported, saved, between_saves;
    execution::Common common;
    std::uint32_t walks;
    Slot* slots[most_walks];
};
Server* server = nullptr;
Slot* own = nullptr;

class Planning {
  public:
    Planning() : in_pool_(locked().pool) {}
    ~Planning() {
        server->holder = 0;
        server->lock.unlock();
    }
    Planning(Planning const&) = delete;
    Planning& operator=(Planning const&) = delete;

  private:
    static Server& locked() {
        server->lock.lock();
        server->holder = kernel::call(SYS_getpid);
        return *server;
    }
    memory::InPool in_pool_;
};

std::int64_t real_time() {
    timespec time{};
    kernel::call(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    return time.tv_sec * second + time.tv_nsec;
}

void prepare(Slot& slot) {
    Walk const& walk = *slot.walk;
    auto& execution = slot.execution;
    execution.planned = static_cast<std::uint32_t>(walk.plan().size());
    execution.changed = static_cast<std::uint32_t>(walk.changed());
    execution.asleep = static_cast<std::uint32_t>(walk.sleeping().size());
    std::copy(walk.plan().begin(), walk.plan().end(), execution.plan);
    std::copy(walk.sleeping().begin(), walk.sleeping().end(), execution.sleeping);
    execution.outcome = Outcome::running;
    execution.told_something = execution.found_something = false;
    execution.events_count = execution.switches_count = 0;
    execution.steps = 0;
    execution.threads = 0;
    if (slot.output >= 0) kernel::call(SYS_ftruncate, slot.output, 0);
    slot.running = true;
}

void tell_news() {
    __atomic_add_fetch(&server->news, 1, __ATOMIC_RELEASE);
    kernel::call(SYS_futex, &server->news, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void put_decisions(Text& text) {
    text << "fencepost decisions 1\nseed " << options.schedule.seed << "\n";
    if (options.schedule.failing != 0) text << "failing " << options.schedule.failing << "\n";
    if (server->threads != 0) text << "threads " << server->threads << "\n";
    text << "choices";
    for (std::uint32_t i = 0; i < shared->events_count; ++i)
        if (shared->events[i].act == Act::choose) text << " " << shared->events[i].chosen;
    text << "\n0 ";
    for (std::uint32_t i = 0; i < shared->switches_count; ++i)
        text << shared->switches[i].steps << "\n" << shared->switches[i].to << " ";
}

// The end of what the execution has printed, as ASCII.
std::size_t read_output(int file, char (&into)[kept_output]) {
    struct stat about{};
    kernel::call(SYS_fstat, file, &about);
    long const from = std::max<long>(about.st_size - static_cast<long>(kept_output), 0);
    long const bytes = kernel::call(SYS_pread64, file, into, kept_output, from);
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
            return "there were more steps than the limit (--max-steps)";
        case Outcome::too_large:
            return "there were more operations on shared locations than are kept of an execution (16,384)";
        case Outcome::running:
            return "the process was killed";
        default:
            return "";
    }
}

void report_if_new(Slot const& slot, int status) {
    char const* const trouble = trouble_of(slot.execution.outcome);
    int const code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    int const number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    std::uint64_t const failure = static_cast<std::uint64_t>(code) << 16 |
                                  static_cast<std::uint64_t>(number) << 8 |
                                  static_cast<std::uint64_t>(slot.execution.outcome);
    bool const stuck = slot.execution.outcome == Outcome::stuck;
    bool const failed = (code != 0 && !stuck) || number != 0 || *trouble != '\0';
    bool const found = slot.execution.told_something;
    if (!(failed && is_news(failure)) && !found) return;
    Text decisions;
    put_decisions(decisions);
    char output[kept_output];
    std::size_t const printed = slot.output >= 0 && failed ? read_output(slot.output, output) : 0;
    report_execution(
        {server->report.executions, stuck ? 0 : code, number, trouble, decisions.view(), {output, printed}});
}

void stop(char const* why) {
    if (*server->report.why == '\0') server->report.why = why;
    server->over = true;
}

// The first execution was in vain but for what it shows: threads are made before the program begins, from now
// on, and addresses are no longer what they were.
void begin_anew(std::uint32_t threads) {
    server->alone = false;
    server->threads = threads;
    std::memset(&server->common, 0, sizeof server->common);
    server->exploration->restart();
}

// All that was begun before counts for nothing.
void restart_with_round() {
    auto& report = server->report;
    report.in_vain += report.executions;
    report.executions = report.cut = report.bounded = 0;
    server->exploration->restart();
}

void take_in(Slot& slot, int status) {
    auto& report = server->report;
    auto& execution = slot.execution;
    Outcome const outcome = execution.outcome;
    bool const is_first = server->alone && outcome != Outcome::round;
    slot.running = false;
    if (is_first)
        begin_anew(execution.threads);
    else if (outcome == Outcome::round && !slot.walk->is_outdated())
        restart_with_round();
    if (!is_first) report.steps += execution.steps;
    bool const is_complete = outcome == Outcome::ended || outcome == Outcome::stuck;
    bool const is_cut = outcome == Outcome::cut || outcome == Outcome::too_long ||
                        outcome == Outcome::too_large || outcome == Outcome::running;
    if (slot.walk->is_outdated()) {
        report.in_vain += !is_first;
    } else if (is_complete || is_cut) {
        report.cut += is_cut;
        ++report.executions;
        report_if_new(slot, status);
        if (options.schedule.first && (execution.found_something || status != 0))
            stop("it was to stop at the first finding");
    } else if (outcome == Outcome::bounded) {
        ++report.bounded;
    } else if (outcome == Outcome::apart) {
        stop("the program does not repeat itself");
        report.wanted = &execution.wanted;
        report.met = &execution.met;
    } else {
        ++report.in_vain;
    }
    bool const led_nowhere = outcome == Outcome::in_vain || outcome == Outcome::bounded;
    if (led_nowhere)
        slot.walk->abandoned(execution.events, execution.events_count);
    else
        slot.walk->completed(execution.events, execution.events_count);
    tell_news();
}

void report_progress() {
    auto& report = server->report;
    report.share = server->exploration->share();
    report.untried = server->common.untried;
    report.atomics = server->common.atomics;
    report_exploration(report, false);
}

void look_at_limits() {
    auto const& limits = options.schedule;
    std::int64_t const now = real_time();
    if (limits.executions != 0 && server->report.executions >= limits.executions)
        stop("the limit on executions was reached");
    if (limits.seconds != 0 && now - server->started >= static_cast<std::int64_t>(limits.seconds) * second)
        stop("the time limit was reached");
    if (now - server->reported < between_reports) return;
    server->reported = now;
    report_progress();
}

// What is kept of an exploration, before the exploration itself.
struct Saved {
    char title[32] = "fencepost exploration 2";
    std::uint64_t sum = 0;  // of all bytes of the file, but for these
    std::uint64_t program;  // which one it is, and how it was asked for
    std::uint32_t walks, threads, untried, unused = 0;
    std::uint64_t atomics, executions, in_vain, cut, bounded, steps;
    std::uint64_t rounds_bytes, reports_bytes;
};

std::uint64_t program_hash = 0;

std::uint64_t hashed(std::uint64_t hash, std::string_view bytes) {
    for (char const c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return hash;
}

std::uint64_t sum_of(Saved head, std::string_view rest) {
    head.sum = 0;
    return hashed(hashed(0xcbf29ce484222325u, {reinterpret_cast<char const*>(&head), sizeof head}), rest);
}

// The program's code, its arguments, where its stack begins, and what changes which executions there are.
std::uint64_t hash_of_program(char** arguments) {
    auto const& asked = options.schedule;
    std::uint64_t const numbers[] = {asked.rounds,
                                     asked.steps,
                                     asked.failing,
                                     asked.bound,
                                     asked.sc_fences_commute,
                                     reinterpret_cast<std::uintptr_t>(arguments)};
    std::uint64_t hash =
        hashed(0xcbf29ce484222325u, {reinterpret_cast<char const*>(numbers), sizeof numbers});
    for (; *arguments != nullptr; ++arguments) hash = hashed(hash, *arguments);
    Text code;
    read_file("/proc/self/exe", code);
    return hashed(hash, code.view());
}

// Whether there was room for it.
bool save() {
    auto const& report = server->report;
    Text reports, rest, all;
    copy_reports(reports);
    Saved head;
    head.program = program_hash;
    head.walks = server->walks;
    head.threads = server->threads;
    head.untried = server->common.untried;
    head.atomics = server->common.atomics;
    head.executions = report.executions;
    head.in_vain = report.in_vain;
    head.cut = report.cut;
    head.bounded = report.bounded;
    head.steps = report.steps;
    head.rounds_bytes = rounds_as_bytes().size();
    head.reports_bytes = reports.view().size();
    put_bytes(rest, server->common.told);
    rest << rounds_as_bytes() << reports.view();
    ExplorationFile::write(rest, *server->exploration);
    head.sum = sum_of(head, rest.view());
    put_bytes(all, head);
    all << rest.view();
    Text name;
    name << options.schedule.resume << ".new";
    char const* const written = keep(name.view());
    constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
    long const file = kernel::call(SYS_openat, AT_FDCWD, written, flags, 0666);
    if (kernel::failed(file)) return false;
    bool const done = all.write_to(static_cast<int>(file));
    kernel::call(SYS_close, file);
    return done && !kernel::failed(kernel::call(SYS_rename, written, options.schedule.resume));
}

// The walks wait for one another then.
bool is_time_to_save() {
    return options.schedule.resume != nullptr && !server->alone && *server->report.why == '\0' &&
           real_time() - server->saved >= server->between_saves;
}

// Not so often that it takes more than a small part of the time.
void save_for_now() {
    std::int64_t const before = real_time();
    save();
    server->saved = real_time();
    server->between_saves = std::max(least_between_saves, 20 * (server->saved - before));
}

// False if there is none now, or no more.
bool plan_next() {
    Planning const planning;
    if (is_time_to_save()) {
        if (server->exploration->is_running()) return false;
        save_for_now();
        tell_news();
    }
    if (server->exploration->is_complete())
        server->over = true;
    else
        look_at_limits();
    if (!server->over && own->walk->advance()) prepare(*own);
    if (server->over) tell_news();
    return own->running;
}

// Waits until there is one, or ends the process.
void find_execution() {
    for (;;) {
        std::uint32_t const news = __atomic_load_n(&server->news, __ATOMIC_ACQUIRE);
        if (server->over) break;
        if (plan_next()) return;
        if (server->over) break;
        kernel::call(SYS_futex, &server->news, FUTEX_WAIT, news, nullptr, nullptr, 0);
    }
    for (;;) kernel::call(SYS_exit_group, 0);
}

int code_at_end = 0;

void between_executions() {
    {
        Planning const planning;
        take_in(*own, code_at_end << 8);
        ++own->returned;
    }
    find_execution();
}

// In the process of a walk, for all of its executions.
void run_walk(Slot& slot, long parent) {
    own = &slot;
    shared = &slot.execution;
    kernel::call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
    if (kernel::call(SYS_getppid) != parent) kernel::call(SYS_exit_group, 1);
    in_child_of_fork();
    only_fiber(detail::self->fiber);
    report_as_walk(slot.number);
    if (slot.number != 0 && slot.output >= 0) {
        kernel::call(SYS_dup2, slot.output, STDOUT_FILENO);
        kernel::call(SYS_dup2, slot.output, STDERR_FILENO);
    }
    if (server->alone) report_nothing();
    if (lending::is_on()) lending::make(server->threads);
    restart::on_own_stack(find_execution);
    if (slot.returns) restart::begin();
    execution::begin(options.schedule);
    execution_begins();
}

bool should_return() {
    if (options.schedule.restart != Settings::Restart::automatic)
        return options.schedule.restart == Settings::Restart::memory;
    return server->report.executions >= forks_first && server->failed_returns < most_failures;
}

// Returns in the new process.
bool start_walk(Slot& slot, long self) {
    slot.returns = !server->alone && lending::is_on() && should_return();
    slot.returned = 0;
    pid_t const process = _Fork();
    if (process < 0) stop_with("fencepost: the system has no process left for an execution\n");
    if (process == 0)
        run_walk(slot, self);
    else
        slot.process = process;
    return process == 0;
}

// The process of the walk has ended, as it does if it cannot go back, or if the program has crashed.
void take_in_end(Slot& slot, int status) {
    if (server->holder == slot.process) {
        server->holder = 0;
        server->lock.unlock();
        stop("a process was killed while it planned the next execution");
    }
    if (slot.returns && !server->over)
        server->failed_returns = slot.returned < few_returns ? server->failed_returns + 1 : 0;
    if (!slot.running) return;
    Planning const planning;
    own = &slot;
    shared = &slot.execution;
    report_as_walk(slot.number);
    take_in(slot, status);
}

Slot* slot_of(long process) {
    for (std::uint32_t i = 0; i < server->walks; ++i)
        if (server->slots[i]->process == process) return server->slots[i];
    return nullptr;
}

int output_of_walk(std::uint32_t number) {
    struct stat file{};
    if (options.run_by == 0 || fstat(STDOUT_FILENO, &file) != 0 || !S_ISREG(file.st_mode)) return -1;
    if (number == 0) return STDOUT_FILENO;
    constexpr long above_others = 800;
    long const made = kernel::call(SYS_memfd_create, "fencepost", MFD_CLOEXEC);
    if (kernel::failed(made)) return -1;
    long const moved = kernel::call(SYS_fcntl, made, F_DUPFD_CLOEXEC, above_others);
    kernel::call(SYS_close, made);
    kernel::call(SYS_fcntl, moved, F_SETFL, O_APPEND);
    return static_cast<int>(moved);
}

void make_server() {
    server = static_cast<Server*>(memory::shared_pages(sizeof(Server)));
    if (server == nullptr) stop_with("fencepost: the system has no memory left for an exploration\n");
    execution::common = &server->common;
    server->pool = memory::make_shared_pool();
    server->report.why = "";
    server->started = server->reported = server->saved = real_time();
    server->between_saves = least_between_saves;
    server->alone = lending::is_on();
    server->walks = std::clamp(options.schedule.walks, 1U, most_walks);
    memory::InPool const in_pool(server->pool);
    ScFences const fences = options.schedule.sc_fences_commute ? ScFences::commute : ScFences::ordered;
    server->exploration = new (memory::allocate(sizeof(Exploration))) Exploration(fences);
    for (std::uint32_t i = 0; i < server->walks; ++i) {
        auto* const slot = static_cast<Slot*>(memory::shared_pages(sizeof(Slot)));
        if (slot == nullptr) stop_with("fencepost: the system has no memory left for an exploration\n");
        slot->walk = new (memory::allocate(sizeof(Walk))) Walk(*server->exploration);
        slot->number = i;
        slot->output = output_of_walk(i);
        server->slots[i] = slot;
    }
}

[[noreturn]] void finish_server() {
    auto& report = server->report;
    report.share = *report.why == '\0' ? 1 : server->exploration->share();
    report.untried = server->common.untried;
    report.atomics = server->common.atomics;
    report_as_walk(0);
    if (options.schedule.resume != nullptr && report.wanted == nullptr && !save()) report_not_saved();
    report_exploration(report, true);
    for (;;) kernel::call(SYS_exit_group, 0);
}

// Returns in each process of a walk; the server itself ends here. The first execution is run alone.
void run_all() {
    long const self = kernel::call(SYS_getpid);
    std::uint32_t begun = 0, live = 0;
    do {
        for (; begun < (server->alone ? 1 : server->walks) && !server->over; ++begun, ++live)
            if (start_walk(*server->slots[begun], self)) return;
        int status = 0;
        long const process = kernel::call(SYS_wait4, -1, &status, 0, nullptr);
        Slot* const slot = process > 0 ? slot_of(process) : nullptr;
        if (slot == nullptr) continue;
        take_in_end(*slot, status);
        if (server->over)
            --live;
        else if (start_walk(*slot, self))
            return;
    } while (live != 0);
    finish_server();
}

[[noreturn]] void refuse(std::string_view why) {
    report_not_resumed(why);
    for (;;) kernel::call(SYS_exit_group, 2);
}

// The file, if there is one; then the walks are as many as they were.
void read_saved(Text& all) {
    if (options.schedule.resume == nullptr || !read_file(options.schedule.resume, all)) return;
    Saved head;
    std::string_view rest = all.view();
    if (!take_bytes(rest, head) || std::string_view(head.title) != Saved{}.title)
        refuse("it is no file that `check --resume` has written");
    if (head.program != program_hash)
        refuse(
            "it was written for another program, or for other arguments, options or environment variables");
    if (head.sum != sum_of(head, rest)) refuse("it is damaged");
    options.schedule.walks = head.walks;
}

void go_on(std::string_view rest) {
    if (rest.empty()) return;
    memory::InPool const in_pool(server->pool);
    auto& report = server->report;
    Saved head;
    bool good = take_bytes(rest, head) && take_bytes(rest, server->common.told) &&
                head.rounds_bytes <= rest.size() && head.reports_bytes <= rest.size() - head.rounds_bytes &&
                read_rounds({rest.data(), head.rounds_bytes});
    if (good) {
        rest.remove_prefix(head.rounds_bytes);
        repeat_reports({rest.data(), head.reports_bytes});
        rest.remove_prefix(head.reports_bytes);
        good = ExplorationFile::read(rest, *server->exploration);
    }
    if (!good) refuse("it is damaged");
    server->alone = false;
    server->threads = head.threads;
    server->common.untried = head.untried;
    server->common.atomics = head.atomics;
    report.executions = head.executions;
    report.in_vain = head.in_vain;
    report.cut = head.cut;
    report.bounded = head.bounded;
    report.steps = head.steps;
}

void serve(int, char** arguments, char**) {
    if (lending::is_on() && !exploring()) lending::make(decisions::threads_made_before());
    if (!exploring()) return;
    if (_Fork == nullptr) stop_with("fencepost: schedule=explore needs version 2.34 of the C library\n");
    start_rounds();
    if (options.schedule.resume != nullptr) program_hash = hash_of_program(arguments);
    Text saved;
    read_saved(saved);
    make_server();
    prepare_reports(server->walks);
    go_on(saved.view());
    kernel::map_ahead(pages_ahead);
    run_all();
}

// After addresses have been fixed (addresses.cpp is linked before this file), and before the program's
// constructors.
[[gnu::section(".preinit_array"), gnu::used]] void (*const third)(int, char**, char**) = serve;

}  // namespace

void end_process(int code) {
    if (own != nullptr && restart::is_possible()) {
        code_at_end = code & 0xff;
        restart::go_back(between_executions);
    }
    series::run_ends(code);
    for (;;) kernel::call(SYS_exit_group, code);
}

}  // namespace fencepost::scheduler
