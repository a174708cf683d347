#include "sanitizer/schedule/watchdog.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <ucontext.h>

#include <cstddef>
#include <string_view>

#include "sanitizer/core/threads.hpp"
#include "sanitizer/schedule/series.hpp"
#include "sanitizer/schedule/state.hpp"
#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/options.hpp"
#include "sanitizer/system/real.hpp"
#include "sanitizer/system/signal_mask.hpp"
#include "sanitizer/system/syscalls.hpp"

// Not without a name: real.hpp declares functions in the namespace around their use.
namespace fencepost::scheduler::watchdog {

using kernel::call;

constexpr std::int64_t millisecond = 1'000'000, second = 1000 * millisecond;
constexpr std::int64_t first_patience = second, later_patience = 20 * millisecond;
constexpr std::size_t stack_bytes = 32 * 1024;

bool started = false, there = false;
std::uint64_t preempted = 0;          // steps
std::uint64_t asked_at = UINT64_MAX;  // the step in which the thread was found that is to be interrupted
bool should_report = false, reported = false;  // the latter: since there was progress
bool handling = false;

std::int64_t time_on(clockid_t clock) {
    timespec time{};
    call(SYS_clock_gettime, clock, &time);
    return time.tv_sec * second + time.tv_nsec;
}

// Of a kernel thread: the kernel's own encoding (CPUCLOCK_SCHED, per thread).
std::int64_t processor_time(std::int32_t tid) {
    return time_on(static_cast<clockid_t>((~static_cast<std::uint32_t>(tid) << 3) | 6));
}

// The digits of a number, in a buffer that has room for them, from its end.
char* write_digits(char* end, std::uint32_t number) {
    do *--end = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    return end;
}

// By /proc: the state follows the name of the program, which is in brackets. Without a Text, whose memory has
// a lock that the thread may hold.
bool sleeps(std::int32_t tid) {
    constexpr std::string_view before = "/proc/self/task/", after = "/stat";
    char digits[12], path[before.size() + sizeof digits + after.size() + 1] = {};
    char* const first = write_digits(digits + sizeof digits, static_cast<std::uint32_t>(tid));
    std::size_t length = 0;
    for (std::string_view const part :
         {before, std::string_view(first, static_cast<std::size_t>(digits + sizeof digits - first)), after})
        for (char const letter : part) path[length++] = letter;
    char stat[128];
    long const file = call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (file < 0) return false;
    long const bytes = call(SYS_read, file, stat, sizeof stat);
    call(SYS_close, file);
    long end = bytes - 1;
    while (end > 0 && stat[end] != ')') --end;
    return end > 0 && end + 2 < bytes && stat[end + 2] == 'S';
}

// At the thread that has its turn: what its stack would be walked from.
Standing standing_at(detail::Thread const& thread, ucontext_t const& context) {
#if defined(__x86_64__)
    auto const& registers = context.uc_mcontext.gregs;
    return {thread.id, nullptr, reinterpret_cast<void const*>(registers[REG_RBP]),
            static_cast<std::uintptr_t>(registers[REG_RIP])};
#else
    return {thread.id, nullptr, reinterpret_cast<void const*>(context.uc_mcontext.regs[29]),
            context.uc_mcontext.pc};
#endif
}

void report(ucontext_t const& context) {
    constexpr std::size_t most = 64;
    Standing threads[most];
    std::size_t count = 0;
    threads[count++] = standing_at(*detail::self, context);
    for (detail::ThreadList const* list : {&detail::runnable, &detail::blocked}) {
        for (std::uint32_t i = 0; i < list->count && count < most; ++i) {
            detail::Thread const& thread = *list->items[i];
            if (&thread != detail::self)
                threads[count++] = {thread.id, thread.waiting ? thread.wait.on_what : nullptr, thread.frame,
                                    0};
        }
    }
    report_stall(options.schedule.stall, threads, count);
}

void interrupted(int, siginfo_t*, void* context) {
    if (!detail::has_turn() || detail::taken != asked_at || handling) return;
    int const error = errno;
    bool const in_library = this_thread == nullptr || this_thread->in_hook != 0;
    handling = true;
    if (should_report) report(*static_cast<ucontext_t const*>(context));
    reported = reported || should_report;
    should_report = handling = false;
    if (!in_library && detail::self->pinned == 0) {
        __atomic_add_fetch(&preempted, 1, __ATOMIC_RELAXED);
        detail::step(true);
    }
    errno = error;
}

void handle_signal() {
    struct sigaction action{};
    action.sa_sigaction = interrupted;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER;
    REAL(sigaction)(signal_number, &action, nullptr);
}

// What was seen of the thread that has its turn, since its last step.
struct Observed {
    std::uint64_t step;
    std::int32_t tid;
    std::int64_t processor, asleep;  // times; asleep: the time since when it is, or 0

    void begin(std::uint64_t at_step, std::int32_t thread) {
        *this = {at_step, thread, thread == 0 ? 0 : processor_time(thread), 0};
    }
    bool holds_up(std::int64_t now, std::int64_t patience) {
        if (processor_time(tid) - processor >= patience) return true;
        if (!sleeps(tid)) {
            asleep = 0;
            return false;
        }
        if (asleep == 0) asleep = now;
        return now - asleep >= patience;
    }
};

void interrupt(Observed const& thread) {
    __atomic_store_n(&asked_at, thread.step, __ATOMIC_RELEASE);
    call(SYS_tgkill, call(SYS_getpid), thread.tid, signal_number);
}

// In a kernel thread of which the C library does not know: nothing here may use thread-local storage.
int watch(void*) {
    Observed seen{};
    std::uint64_t progress = 0;
    std::int64_t last_progress = time_on(CLOCK_MONOTONIC);
    std::uint64_t const* const run = series::run_number();
    std::uint64_t run_seen = 0;
    for (;;) {
        bool const has_helped = __atomic_load_n(&preempted, __ATOMIC_RELAXED) != 0;
        std::int64_t const patience = has_helped ? later_patience : first_patience;
        timespec const pause{0, static_cast<long>(patience / 4)};
        call(SYS_nanosleep, &pause, nullptr);
        std::int64_t const now = time_on(CLOCK_MONOTONIC);
        std::uint64_t const step = __atomic_load_n(&detail::taken, __ATOMIC_ACQUIRE);
        detail::Thread const* const thread = detail::thread_with_turn();
        std::int32_t const tid = thread == nullptr ? 0 : kernel_thread_of(thread->fiber);
        // Never too many: what is preempted is counted before its step.
        std::uint64_t const own_steps = step - __atomic_load_n(&preempted, __ATOMIC_ACQUIRE);
        std::uint64_t const run_now = run == nullptr ? 0 : __atomic_load_n(run, __ATOMIC_ACQUIRE);
        if (static_cast<std::int64_t>(own_steps - progress) > 0 || tid == 0 || run_now != run_seen) {
            run_seen = run_now;
            progress = own_steps;
            last_progress = now;
            reported = false;
        }
        if (seen.step != step || seen.tid != tid) {
            seen.begin(step, tid);
        } else if (tid == 0) {
            continue;
        } else if (!reported && now - last_progress >= std::int64_t{options.schedule.stall} * second) {
            should_report = true;
            interrupt(seen);
        } else if (seen.holds_up(now, patience)) {
            interrupt(seen);
            seen.begin(step, tid);
        }
    }
}

void start() {
    if (started || options.schedule.stall == 0) return;
    started = true;
    handle_signal();
    char* const stack = static_cast<char*>(memory::shared_pages(stack_bytes));  // (restart.hpp)
    if (stack == nullptr) return;
    SignalsBlocked const in_the_new_thread;
    constexpr int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    there = clone(watch, stack + stack_bytes, flags, nullptr) > 0;
}

bool is_there() {
    return there;
}

void forked() {
    started = there = false;
}

}  // namespace fencepost::scheduler::watchdog
