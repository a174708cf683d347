// Ends of the process, fork, unmapped memory, and system calls made by number: C++20's waits and the C++
// library's static-local guards block through `syscall(SYS_futex, …)`.
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdlib>

#include "sanitizer/core/await.hpp"
#include "sanitizer/core/robustness.hpp"
#include "sanitizer/core/threads.hpp"
#include "sanitizer/hooks/interpose.hpp"
#include "sanitizer/hooks/race_watch.hpp"
#include "sanitizer/hooks/weak_operations.hpp"
#include "sanitizer/races/feed.hpp"
#include "sanitizer/report/findings.hpp"
#include "sanitizer/schedule/system_calls.hpp"
#include "sanitizer/system/syscalls.hpp"

using namespace fencepost;

namespace {

// The child has a copy of all locks, so no other thread may hold one at that moment.
alignas(StoppedWorld) char stopped_world[sizeof(StoppedWorld)];

void before_fork() {
    new (stopped_world) StoppedWorld;
}
void after_fork_in_parent() {
    reinterpret_cast<StoppedWorld*>(stopped_world)->~StoppedWorld();
}
void after_fork_in_child() {
    in_child_of_fork();
    races::forked(current_thread());
    after_fork_in_parent();
    scheduler::forked();
    findings_in_child_of_fork();
    race_findings_in_child_of_fork();
    threads_of_parent_are_gone();
}

int quick_exit_code;

// Registered before the program's own handlers, so it runs last.
void at_quick_end() {
    scheduler::exit_point();
    int const wanted = finish_findings(quick_exit_code);
    if (wanted != quick_exit_code) _exit(wanted);
}

// A fence in all threads of the process. In mode races ThreadSanitizer cannot be told so.
void membarrier(std::uintptr_t command) {
    constexpr std::uintptr_t fences = MEMBARRIER_CMD_GLOBAL | MEMBARRIER_CMD_GLOBAL_EXPEDITED |
                                      MEMBARRIER_CMD_PRIVATE_EXPEDITED |
                                      MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE;
    if ((command & fences) == 0) return;
    Thread& caller = current_thread();
    if (caller.in_hook != 0) return;
    if (caller.slot == no_slot && !take_slot(caller)) return;
    StoppedWorld const stopped;
    bool const in_weak_run = is_weak();
    static RaceMessage of_caller, of_others;
    races::release_object(caller, of_caller);
    fence_everywhere(caller, [&](Thread& other) {
        if (in_weak_run) weak::learn_from(other, caller), weak::learn_from(caller, other);
        if (other.race_clocks == nullptr) return;
        races::release_object(other, of_others);
        races::acquire_object(other, of_caller);
    });
    races::acquire_object(caller, of_others);
    interrupt_await(caller);
}

long in_the_c_librarys_way(long result) {
    if (result >= 0 || result < -4095) return result;
    errno = static_cast<int>(-result);
    return -1;
}

}  // namespace

namespace fencepost {

void start_process_interposing() {
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    at_quick_exit(at_quick_end);
}

}  // namespace fencepost

FENCEPOST_INTERPOSE long syscall(long number, ...) noexcept {
    va_list list;
    va_start(list, number);
    long a[6];
    for (long& argument : a) argument = va_arg(list, long);
    va_end(list);
    if (number == SYS_exit_group) _exit(static_cast<int>(a[0]));
    long result = 0;
    if (scheduler::active() && scheduler::system_call(number, a, result))
        return in_the_c_librarys_way(result);
    if (number == SYS_membarrier) scheduler::point();
    result = kernel::call6(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (number == SYS_membarrier && result == 0) membarrier(static_cast<std::uintptr_t>(a[0]));
    if (number == SYS_futex) wake_scheduled(reinterpret_cast<void*>(a[0]));
    return in_the_c_librarys_way(result);
}

// An end without the handlers of `exit`.
FENCEPOST_INTERPOSE void _exit(int code) {
    scheduler::exit_point();
    int const wanted = finish_findings(code);
    if (auto* const interceptor = INTERCEPTOR(_exit); interceptor != nullptr) interceptor(wanted);
    scheduler::end_process(wanted);
}

FENCEPOST_INTERPOSE void _Exit(int code) noexcept {
    _exit(code);
}

FENCEPOST_INTERPOSE void quick_exit(int code) noexcept {
    quick_exit_code = code;
    REAL(quick_exit)(code);
    __builtin_unreachable();
}

FENCEPOST_INTERPOSE int munmap(void* begin, std::size_t bytes) noexcept {
    forget_memory(begin, bytes);
    memory_goes(begin, bytes, nullptr);
    return REAL(munmap)(begin, bytes);
}
