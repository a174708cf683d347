// Signals that end the process by default: remaining findings are reported first, then the signal does what
// it would have done. A handler of ours stands where the default action does. The program does not see it: it
// is told of the default action where it asks, and gets our handler where it sets that action again. Its own
// handlers are its own.
//
// Left out is a crash on a stack that has no room for a handler. In mode races ThreadSanitizer handles some
// of these signals, prints what has happened and ends the process; it calls us before.
#include <errno.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include "sanitizer/core/stacks.hpp"
#include "sanitizer/hooks/interpose.hpp"
#include "sanitizer/report/findings.hpp"
#include "sanitizer/report/json.hpp"
#include "sanitizer/system/lock.hpp"
#include "sanitizer/system/syscalls.hpp"

#if defined(FENCEPOST_RACES)
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*)());
#endif

// Not without a name: real.hpp declares functions in the namespace around their use.
namespace fencepost::crashes {

using kernel::call;

constexpr int deadly[] = {SIGABRT, SIGBUS, SIGFPE,  SIGILL,  SIGSEGV, SIGSYS,  SIGTRAP, SIGALRM,
                          SIGHUP,  SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};
constexpr int shell_code = 128;  // plus the signal: the exit code by which a shell knows such an end

long ending;                      // the process that tells its last findings
struct sigaction defaults[NSIG];  // what the program thinks is set where our handler is

bool is_deadly(int number) {
    for (int const one : deadly)
        if (one == number) return true;
    return false;
}

// The same instruction again gives the same fault.
bool repeats_itself(siginfo_t const& info) {
    return info.si_code > 0 && (info.si_signo == SIGSEGV || info.si_signo == SIGBUS ||
                                info.si_signo == SIGILL || info.si_signo == SIGFPE);
}

// Where a fault has happened.
struct Registers {
    std::uintptr_t pc, stack, frame;
};
Registers registers_of(ucontext_t const& context) {
#if defined(__x86_64__)
    auto const& registers = context.uc_mcontext.gregs;
    return {static_cast<std::uintptr_t>(registers[REG_RIP]), static_cast<std::uintptr_t>(registers[REG_RSP]),
            static_cast<std::uintptr_t>(registers[REG_RBP])};
#else
    return {context.uc_mcontext.pc, context.uc_mcontext.sp, context.uc_mcontext.regs[29]};
#endif
}

// The program's own code may use the frame register for something else, so it must point into the stack.
Stack stack_at(Thread const& t, Registers at) {
    constexpr std::uintptr_t first_page = 4096;
    Stack stack;
    bool const on_stack = at.stack < t.stack_high && at.stack >= t.stack_low && t.stack_low != 0;
    if (at.pc >= first_page)
        stack.frames[stack.count++] = at.pc + 1;  // as if it were a return address
    else if (on_stack)                            // a call through a null pointer
        stack.frames[stack.count++] = *reinterpret_cast<std::uintptr_t const*>(at.stack);
    if (!on_stack || at.frame < at.stack) return stack;
    Stack const callers = walk_stack(t, reinterpret_cast<void const*>(at.frame), stack_depth - 1);
    for (std::size_t i = 0; i < callers.count; ++i) stack.frames[stack.count++] = callers.frames[i];
    return stack;
}

void tell_of(siginfo_t const& info, void const* context) {
    if (this_thread == nullptr || !repeats_itself(info)) return;
    Stack const stack = stack_at(*this_thread, registers_of(*static_cast<ucontext_t const*>(context)));
    json_crash(*this_thread, info.si_signo, reinterpret_cast<std::uintptr_t>(info.si_addr), stack);
}

void wait_for_the_end() {
    timespec const long_time{3600, 0};
    for (;;) call(SYS_nanosleep, &long_time, nullptr);
}

// All signals are blocked in here; what is sent arrives when the handler returns.
void report_and_die(int number, siginfo_t* info, void* context) {
    long const process = call(SYS_getpid);
    if (__atomic_exchange_n(&ending, process, __ATOMIC_ACQ_REL) == process) wait_for_the_end();
    {
        ImpatientThread const at_last;
        tell_of(*info, context);
        finish_findings(shell_code + number);
    }
    struct sigaction action{};
    action.sa_handler = SIG_DFL;
    REAL(sigaction)(number, &action, nullptr);
    if (!repeats_itself(*info)) call(SYS_tgkill, process, call(SYS_gettid), number);
}

struct sigaction ours() {
    struct sigaction action{};
    action.sa_sigaction = report_and_die;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigfillset(&action.sa_mask);
    return action;
}

bool is_ours(struct sigaction const& action) {
    return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == report_and_die;
}

bool is_default(struct sigaction const& action) {
    return action.sa_handler == SIG_DFL;
}

int set_action(int number, struct sigaction const* action, struct sigaction* old) {
    struct sigaction before;
    struct sigaction const stand_in = ours();
    bool const replace = action != nullptr && is_default(*action) && is_deadly(number);
    struct sigaction const wanted = action != nullptr ? *action : stand_in;  // `old` may be the same object
    if (int const error = REAL(sigaction)(number, replace ? &stand_in : action, &before)) return error;
    if (old != nullptr) *old = is_ours(before) ? defaults[number] : before;
    if (replace) defaults[number] = wanted;
    return 0;
}

// `real` is the function that the program calls.
template <class Real>
sighandler_t set_handler(int number, sighandler_t handler, Real real) {
    struct sigaction old;
    if (handler == SIG_DFL && is_deadly(number)) {
        struct sigaction const action{};
        return set_action(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
    }
    bool const was_ours = REAL(sigaction)(number, nullptr, &old) == 0 && is_ours(old);
    sighandler_t const before = real(number, handler);
    return was_ours && before != SIG_ERR ? SIG_DFL : before;
}

}  // namespace fencepost::crashes

using namespace fencepost::crashes;

namespace fencepost {

void start_watching_crashes() {
#if defined(FENCEPOST_RACES)
    if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback([] { finish_findings(1); });
#endif
    for (int const number : deadly) {
        struct sigaction now;
        if (REAL(sigaction)(number, nullptr, &now) == 0 && is_default(now)) set_action(number, &now, nullptr);
    }
}

}  // namespace fencepost

FENCEPOST_INTERPOSE int sigaction(int number, struct sigaction const* __restrict action,
                                  struct sigaction* __restrict old) noexcept {
    return set_action(number, action, old);
}

FENCEPOST_INTERPOSE sighandler_t signal(int number, sighandler_t handler) noexcept {
    return set_handler(number, handler, REAL(signal));
}

// What `signal` is in strictly conforming programs.
FENCEPOST_INTERPOSE sighandler_t __sysv_signal(int number, sighandler_t handler) noexcept {
    return set_handler(number, handler, REAL(__sysv_signal));
}
