// Signals, cancellation and identity under a schedule. In user space one kernel thread runs all threads, so
// what the kernel keeps for each of its threads is kept for each thread here: its number, its signal mask,
// and the signals that other threads sent to it, whose handlers run in its next turn. Signals to the process
// go where the kernel sends them.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "sanitizer/core/threads.hpp"
#include "sanitizer/hooks/interpose.hpp"
#include "sanitizer/schedule/execution.hpp"
#include "sanitizer/schedule/scheduler.hpp"
#include "sanitizer/schedule/state.hpp"
#include "sanitizer/schedule/time.hpp"
#include "sanitizer/schedule/waits.hpp"
#include "sanitizer/schedule/watchdog.hpp"
#include "sanitizer/system/real.hpp"
#include "sanitizer/system/syscalls.hpp"

namespace fencepost::scheduler {
namespace {

using detail::self;

constexpr std::size_t mask_bytes = sizeof(std::uint64_t);

std::uint64_t bits(sigset_t const* set) {
    return *reinterpret_cast<std::uint64_t const*>(set);
}

// The watchdog's signal is never blocked.
void mask_changed() {
    if (!active()) return;
    constexpr std::uint64_t watchdogs = std::uint64_t{1} << (watchdog::signal_number - 1);
    kernel::call(SYS_rt_sigprocmask, SIG_UNBLOCK, &watchdogs, nullptr, mask_bytes);
    signal_mask_changed(self->fiber);
}

std::uint64_t pending_signals() {
    std::uint64_t pending = 0;
    kernel::call(SYS_rt_sigpending, &pending, mask_bytes);
    return pending | self->sent_signals;
}

detail::Thread* find(pthread_t handle) {
    Thread const* const thread = find_thread(handle);
    return thread == nullptr ? nullptr : detail::find(thread->id);
}

// Until a signal has been handled by this thread.
void wait_for_handler() {
    Wait wait{[](void*) { return false; }, nullptr, nullptr, "signal"};
    wait.interruptible = wait.outside = true;
    detail::block_or_be_cancelled(wait);
}

// Of the signals in `set`, all of them blocked by the thread, one that has arrived; 0 if there is none.
int take_pending(std::uint64_t set, siginfo_t* info) {
    if (std::uint64_t const sent = self->sent_signals & set) {
        int const number = __builtin_ctzl(sent) + 1;
        self->sent_signals &= ~(std::uint64_t{1} << (number - 1));
        if (info != nullptr) {
            *info = {};
            info->si_signo = number;
            info->si_code = SI_TKILL;
        }
        return number;
    }
    timespec const at_once{};
    long const number = kernel::call(SYS_rt_sigtimedwait, &set, info, &at_once, mask_bytes);
    return number > 0 ? static_cast<int>(number) : 0;
}

struct Expected {
    detail::Thread* thread;
    std::uint64_t set;
};

bool one_has_arrived(void* argument) {
    auto const& expected = *static_cast<Expected*>(argument);
    std::uint64_t pending = 0;
    kernel::call(SYS_rt_sigpending, &pending, mask_bytes);
    return ((pending | expected.thread->sent_signals) & expected.set) != 0;
}

int take_one(sigset_t const* set, siginfo_t* info, std::int64_t deadline) {
    point();
    execution::note_untried(execution::signals);
    Expected expected{self, bits(set)};
    Wait wait{one_has_arrived, &expected, nullptr, "signal"};
    wait.outside = true;
    wait.deadline = deadline;
    for (;;) {
        if (int const number = take_pending(expected.set, info)) return number;
        if (!detail::block_or_be_cancelled(wait)) return 0;
    }
}

}  // namespace
}  // namespace fencepost::scheduler

using namespace fencepost::scheduler;

FENCEPOST_INTERPOSE pid_t gettid() noexcept {
    return active() ? detail::self->fiber.tid : static_cast<pid_t>(fencepost::kernel::call(SYS_gettid));
}

FENCEPOST_INTERPOSE int pthread_sigmask(int how, sigset_t const* set, sigset_t* old) noexcept {
    int const result = REAL(pthread_sigmask)(how, set, old);
    mask_changed();
    return result;
}

FENCEPOST_INTERPOSE int sigprocmask(int how, sigset_t const* set, sigset_t* old) noexcept {
    int const result = REAL(sigprocmask)(how, set, old);
    mask_changed();
    return result;
}

FENCEPOST_INTERPOSE int pthread_kill(pthread_t handle, int number) noexcept {
    if (!active() || number <= 0 || number > 64) return REAL(pthread_kill)(handle, number);
    point();
    execution::note_untried(execution::signals);
    detail::Thread* const thread = find(handle);
    if (thread == nullptr) return REAL(pthread_kill)(handle, number);
    thread->sent_signals |= std::uint64_t{1} << (number - 1);
    detail::reconsider(*thread);
    point();  // a signal to the thread itself has been handled when the call returns
    return 0;
}

// Only at cancellation points. Asynchronous cancellation waits for the next one too.
FENCEPOST_INTERPOSE int pthread_cancel(pthread_t handle) {
    if (!active()) return REAL(pthread_cancel)(handle);
    point();
    execution::note_untried(execution::signals);
    int const error = REAL(pthread_cancel)(handle);
    if (detail::Thread* const thread = find(handle); error == 0 && thread != nullptr) {
        thread->cancelled = true;
        detail::reconsider(*thread);
    }
    return error;
}

FENCEPOST_INTERPOSE int pause() {
    if (!active()) return REAL(pause)();
    wait_for_handler();
    errno = EINTR;
    return -1;
}

FENCEPOST_INTERPOSE int sigsuspend(sigset_t const* mask) {
    if (!active()) return REAL(sigsuspend)(mask);
    bool const at_once = (pending_signals() & ~bits(mask)) != 0;
    sigset_t before;
    pthread_sigmask(SIG_SETMASK, mask, &before);
    if (!at_once) wait_for_handler();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = EINTR;
    return -1;
}

FENCEPOST_INTERPOSE int sigwait(sigset_t const* set, int* number) {
    if (!active()) return REAL(sigwait)(set, number);
    *number = take_one(set, nullptr, never);
    return 0;
}

FENCEPOST_INTERPOSE int sigwaitinfo(sigset_t const* set, siginfo_t* info) {
    return active() ? take_one(set, info, never) : REAL(sigwaitinfo)(set, info);
}

FENCEPOST_INTERPOSE int sigtimedwait(sigset_t const* set, siginfo_t* info, timespec const* timeout) {
    if (!active()) return REAL(sigtimedwait)(set, info, timeout);
    if (int const number = take_one(set, info, later(now(), nanoseconds(*timeout)))) return number;
    errno = EAGAIN;
    return -1;
}
