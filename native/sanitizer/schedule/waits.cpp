#include "sanitizer/schedule/waits.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

#include <algorithm>

#include "sanitizer/core/threads.hpp"
#include "sanitizer/schedule/execution.hpp"
#include "sanitizer/schedule/lending.hpp"
#include "sanitizer/schedule/restart.hpp"
#include "sanitizer/schedule/strategy.hpp"
#include "sanitizer/schedule/watchdog.hpp"
#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/syscalls.hpp"

namespace fencepost::scheduler {
namespace detail {

ThreadList runnable, blocked;
std::uint64_t taken = 0;
std::uint64_t run_started = 0;
std::uint64_t next_look = UINT64_MAX;
std::uint32_t waiting_for_memory = 0;
std::uint32_t steps_without_effect = 0;
Random choices;

namespace {

constexpr std::int64_t step_nanoseconds = 1000;
constexpr std::int64_t first_time = 1'000'000'000'000;
constexpr std::uint64_t outside_interval = 1000;  // steps between two looks

std::int64_t skipped = 0;  // nanoseconds that passed while everybody waited
std::int64_t next_deadline = never;
std::uint32_t waiting_for_outside = 0;
std::uint32_t outside_wakes = 0;

// A list that can hold all threads; its pages appear when they are needed.
ThreadList new_list() {
    return {static_cast<Thread**>(memory::pages(most_threads * sizeof(Thread*))), 0};
}

void make_runnable(Thread& thread) {
    if (thread.wait.outside) --waiting_for_outside;
    blocked.remove(thread);
    runnable.add(thread);
    thread.runnable = true;
    strategy::can_run();
}

template <typename Condition>
void make_runnable_if(Condition condition) {
    for (std::uint32_t i = blocked.count; i-- > 0;) {
        if (Thread& thread = *blocked.items[i]; condition(thread)) make_runnable(thread);
    }
}

// Looks for the outside are at fixed steps, so that they do not depend on anything but the decisions.
void plan_next_look() {
    next_look = waiting_for_outside != 0 ? (taken / outside_interval + 1) * outside_interval : UINT64_MAX;
    if (next_deadline == never) return;
    std::int64_t const left = std::max<std::int64_t>(next_deadline - now(), 0);
    next_look = std::min(next_look, taken + static_cast<std::uint64_t>(left / step_nanoseconds));
}

void pass_deadlines() {
    std::int64_t const time = now();
    next_deadline = never;
    make_runnable_if([&](Thread const& thread) {
        if (thread.wait.deadline <= time) return true;
        next_deadline = std::min(next_deadline, thread.wait.deadline);
        return false;
    });
}

std::int64_t real_time() {
    timespec time{};
    kernel::call(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

// The process's threads as the kernel counts them; 0 if it does not tell.
std::size_t kernel_threads() {
    long const directory = kernel::call(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY, 0);
    if (directory < 0) return 0;
    std::size_t count = 0;
    alignas(8) char entries[4096];
    for (long bytes; (bytes = kernel::call(SYS_getdents64, directory, entries, sizeof entries)) > 0;) {
        for (long at = 0; at < bytes; at += reinterpret_cast<dirent64*>(entries + at)->d_reclen) ++count;
    }
    kernel::call(SYS_close, directory);
    return count - 2;  // "." and ".."
}

// May somebody beside the schedule yet end a wait? The world may end one for input or a signal, and a thread
// that the schedule does not know may end any.
bool outside_can_help() {
    if (waiting_for_outside != 0) return true;
    if (lending::is_on())
        return !restart::no_thread_was_made() &&
               kernel_threads() > 1 + lending::made() + restart::own_threads() + watchdog::is_there();
    bool const main_has_ended = find(0) == nullptr;  // the kernel keeps it
    bool const this_one_leaves = self == nullptr;
    return kernel_threads() > blocked.count + main_has_ended + this_one_leaves + watchdog::is_there();
}

void wait_for_outside() {
    std::int64_t const before = real_time();
    timespec const pause{0, 200'000};
    bool const signal = kernel::futex_wait(&outside_wakes, 0, &pause) == -EINTR;
    skipped += real_time() - before;
    if (!signal) return;
    for (std::uint32_t i = 0; i < blocked.count; ++i) blocked.items[i]->interrupted = true;
}

ThreadId owner(Wait const& wait) {
    if (wait.owner == nullptr) return no_thread;
    for (std::uint32_t i = 0; i < blocked.count; ++i) {
        if (blocked.items[i]->fiber.tid == *wait.owner) return blocked.items[i]->id;
    }
    if (*wait.owner == 0) return no_thread;
    for (fencepost::Thread const* t = all_threads; t != nullptr; t = t->next) {  // it may have ended
        if (t->tid == *wait.owner && t->state != fencepost::Thread::State::unused) return t->id;
    }
    return no_thread;
}

[[noreturn]] void deadlock() {
    auto* const list = static_cast<Blocked*>(memory::pages(blocked.count * sizeof(Blocked)));
    for (std::uint32_t i = 0; i < blocked.count; ++i) {
        Thread const& thread = *blocked.items[i];
        list[i] = {thread.id, thread.wait.on_what, thread.wait.object, owner(thread.wait), thread.frame};
    }
    std::sort(list, list + blocked.count, [](auto const& a, auto const& b) { return a.thread < b.thread; });
    execution::note_end(true);
    finish();
    report_deadlock(list, blocked.count);
}

bool is_chosen(void* thread) {
    return static_cast<Thread*>(thread)->chosen;
}

bool can_be_chosen(Thread const& thread, void const* object, std::uint32_t bits) {
    return thread.waiting && thread.wait.ready == is_chosen && !thread.chosen &&
           thread.wait.object == object && (thread.choice_bits & bits) != 0;
}

// The n-th of those that can be chosen, by their numbers, or null. The order of the lists would not do: it is
// not the same in a replay.
Thread* waiting(void const* object, std::uint32_t bits, std::uint32_t n) {
    Thread* last = nullptr;
    for (;; --n) {
        Thread* next = nullptr;
        for (ThreadList const* list : {&blocked, &runnable}) {
            for (std::uint32_t i = 0; i < list->count; ++i) {
                Thread& thread = *list->items[i];
                bool const nearer =
                    (last == nullptr || thread.id > last->id) && (next == nullptr || thread.id < next->id);
                if (nearer && can_be_chosen(thread, object, bits)) next = &thread;
            }
        }
        if (next == nullptr || n == 0) return next;
        last = next;
    }
}

std::uint32_t count_waiting(void const* object, std::uint32_t bits) {
    std::uint32_t count = 0;
    for (ThreadList const* list : {&blocked, &runnable}) {
        for (std::uint32_t i = 0; i < list->count; ++i) count += can_be_chosen(*list->items[i], object, bits);
    }
    return count;
}

}  // namespace

void start_waits() {
    runnable = new_list();
    blocked = new_list();
}

void forget_waits() {
    runnable.count = blocked.count = 0;
    waiting_for_outside = waiting_for_memory = 0;
    next_deadline = never;
    plan_next_look();
}

void make_blocked(Thread& thread) {
    runnable.remove(thread);
    blocked.add(thread);
    thread.runnable = false;
    if (thread.wait.outside) ++waiting_for_outside;
    next_deadline = std::min(next_deadline, thread.wait.deadline);
    plan_next_look();
}

void reconsider(Thread& thread) {
    if (!thread.runnable && can_go_on(thread)) make_runnable(thread);
}

std::uint64_t deliverable_signals(Thread const& thread) {
    return thread.sent_signals & ~thread.fiber.signal_mask;
}

bool can_go_on(Thread const& thread) {
    return !thread.waiting || thread.wait.ready(thread.wait.argument) || thread.wait.deadline <= now() ||
           (thread.cancelled && thread.wait.cancellable) || deliverable_signals(thread) != 0 ||
           (thread.interrupted && thread.wait.interruptible);
}

End how_it_ends(Thread const& thread) {
    if (thread.wait.ready(thread.wait.argument)) return End::ready;
    if (thread.wait.deadline <= now()) return End::deadline;
    return thread.cancelled && thread.wait.cancellable ? End::cancelled : End::signal;
}

void look() {
    pass_deadlines();
    make_runnable_if([](Thread const& thread) { return thread.wait.outside && can_go_on(thread); });
    plan_next_look();
}

bool await_outside(Thread& thread) {
    constexpr std::int64_t patience = 10'000'000'000;
    std::int64_t const start = real_time();
    while (!thread.runnable && thread.wait.outside && real_time() - start < patience) {
        wait_for_outside();
        reconsider(thread);
    }
    return thread.runnable;
}

bool woken_from_outside() {
    return __atomic_load_n(&outside_wakes, __ATOMIC_RELAXED) != 0;
}

// Which objects the wakes were for is not known: waits that may end early do.
void ask_everybody() {
    bool const outside = __atomic_exchange_n(&outside_wakes, 0, __ATOMIC_RELAXED) != 0;
    make_runnable_if([&](Thread& thread) {
        if (outside && thread.wait.may_end_early) thread.chosen = true;
        return can_go_on(thread);
    });
}

// Either a wait has ended unnoticed, or the world will end one, or time will, or nothing.
void find_runnable() {
    for (;;) {
        look();
        ask_everybody();
        if (runnable.count != 0) return;
        if (outside_can_help()) {
            wait_for_outside();
        } else if (next_deadline != never) {
            skipped += next_deadline - now();
        } else {
            deadlock();
        }
    }
}

// The cancelled thread unwinds its stack from here, unless it has disabled that.
bool block_or_be_cancelled(Wait wait) {
    wait.cancellable = true;
    for (;;) {
        self->cancelled = false;
        pthread_testcancel();
        if (block(wait)) return true;
        if (self->end != End::cancelled) return false;
    }
}

bool chosen_to_run_out(Wait& wait) {
    if (wait.deadline == never || !as_explored) return false;
    if (scheduler::choose(2) == 1) {
        pass_time_until(wait.deadline);
        return true;
    }
    wait.deadline = never;
    wait.time_limit = true;
    return false;
}

void pass_time_until(std::int64_t deadline) {
    if (deadline != never && deadline > now()) self->time_ahead += deadline - now();
}

bool block_until_chosen(Wait wait, std::uint32_t bits) {
    wait.ready = is_chosen;
    wait.argument = self;
    self->chosen = false;
    self->choice_bits = bits;
    return block(wait);
}

std::uint32_t choose_waiting(void const* object, std::uint32_t count, std::uint32_t bits) {
    std::uint32_t const all = count_waiting(object, bits);
    count = std::min(count, all);
    std::uint32_t passed_over = 0;
    for (std::uint32_t done = 0; done < count;
         ++done) {  // by their numbers, so each set is chosen in one way
        passed_over += scheduler::choose(all - passed_over - count + 1);
        Thread& thread = *waiting(object, bits, passed_over);
        thread.chosen = true;
        thread.after = self->last_event;
        if (!thread.runnable) make_runnable(thread);
    }
    return count;
}

}  // namespace detail

void wake(void const* object) {
    if (detail::has_turn()) {
        detail::make_runnable_if([&](detail::Thread const& thread) { return thread.wait.object == object; });
    } else if (detail::runnable.items != nullptr) {
        __atomic_store_n(&detail::outside_wakes, 1, __ATOMIC_RELAXED);
        kernel::futex_wake(&detail::outside_wakes);
    }
}

std::int64_t now() {
    std::int64_t const start = detail::first_time + detail::skipped;
    if (!detail::as_explored)
        return start + static_cast<std::int64_t>(detail::taken) * detail::step_nanoseconds;
    // Steps are not the same in executions that are.
    if (detail::self == nullptr) return start;
    return start + detail::self->time_ahead + detail::self->clock_reads * detail::step_nanoseconds;
}

}  // namespace fencepost::scheduler
