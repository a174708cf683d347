#include "sanitizer/schedule/scheduler.hpp"

#include <limits.h>
#include <malloc.h>
#include <pthread.h>

#include <cstdlib>

#include "sanitizer/core/ordinary.hpp"
#include "sanitizer/schedule/decisions.hpp"
#include "sanitizer/schedule/execution.hpp"
#include "sanitizer/schedule/lending.hpp"
#include "sanitizer/schedule/series.hpp"
#include "sanitizer/schedule/state.hpp"
#include "sanitizer/schedule/strategy.hpp"
#include "sanitizer/schedule/waits.hpp"
#include "sanitizer/schedule/watchdog.hpp"
#include "sanitizer/system/lock.hpp"
#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/syscalls.hpp"
#include "sanitizer/system/text.hpp"

namespace fencepost::scheduler {

using detail::End;
using detail::run_started;
using detail::runnable;
using detail::taken;
using detail::Thread;
using detail::ThreadList;

namespace {

Lock table_lock;
Thread* table = nullptr;    // a place is used again when its thread has gone
std::uint32_t places = 0;   // used so far
Thread* running = nullptr;  // null while it is decided who
std::uint64_t step_limit;
std::uint32_t may_fail;  // allocations

// Which writes are read in a weak execution. Numbers of their own: the program's choices stay what they are.
struct WeakReads {
    std::uint64_t from;  // step; 0: all
    std::uint64_t left;  // old ones that may be read
    detail::Random draw;
} weak_reads;

Thread& claim(ThreadId id) {
    Locked const locked(table_lock);
    Thread* free = nullptr;
    for (std::uint32_t i = 0; i < places; ++i) {
        if (!table[i].claimed)
            free = &table[i];
        else if (table[i].id == id)
            return table[i];
    }
    if (free == nullptr) {
        if (places == detail::most_threads) stop_with("fencepost: more threads than a schedule can have\n");
        free = &table[places++];
    }
    free->claimed = true;
    free->id = id;
    return *free;
}

void add(Thread& thread) {
    thread.waiting = false;
    thread.sent_signals = 0;
    thread.cancelled = false;
    thread.handlers = 0;
    thread.pinned = 0;
    thread.operation = {};
    thread.pending = {};
    thread.last_event = thread.after = no_event;
    thread.joined = 0;
    thread.time_ahead = 0;
    thread.initialises = nullptr;
    thread.repeated.forget();
    thread.path.forget();
    thread.at_step = false;
    thread.runnable = true;
    runnable.add(thread);
    strategy::created(thread);
    strategy::can_run();
}

void count_step() {
    if (++taken >= step_limit) {
        if (detail::exploring) execution::give_up(execution::Outcome::too_long);
        finish();
        report_step_limit(taken);
    }
    if (taken >= detail::next_look) detail::look();
}

// The thread that goes on now, its wait being over.
Thread& next_thread(Thread* current, bool yields) {
    if (detail::woken_from_outside()) detail::ask_everybody();
    for (;;) {
        if (runnable.count == 0) detail::find_runnable();
        Thread& thread = strategy::next(current, yields);
        if (!thread.waiting) return thread;
        if (detail::can_go_on(thread)) {
            thread.end = detail::how_it_ends(thread);
            thread.waiting = false;
            return thread;
        }
        detail::make_blocked(thread);  // another was faster
    }
}

void record_switch(Thread const& to) {
    if (decisions::writing()) decisions::write_switch(taken - run_started, to.id);
    if (detail::exploring)
        execution::note_switch(taken - run_started, to.id);
    else
        series::note_switch(taken - run_started, to.id);
    run_started = taken;
}

void hand_over(Thread& from, Thread& to) {
    if (from.handlers != 0) signal_mask_changed(from.fiber);  // the kernel blocks what is being handled
    record_switch(to);
    from.frame = __builtin_frame_address(0);
    switch_fibers(from.fiber, to.fiber);
}

// The handlers run here, in the thread that the signals were sent to.
bool deliver_signals(Thread& self) {
    std::uint64_t const signals = detail::deliverable_signals(self);
    if (signals == 0) return false;
    self.sent_signals &= ~signals;
    apply_signal_mask(self.fiber);
    ++self.handlers;
    long const process = kernel::call(SYS_getpid);
    long const carrier = kernel::call(SYS_gettid);
    for (int number = 1; number <= 64; ++number) {
        if ((signals >> (number - 1) & 1) != 0) kernel::call(SYS_tgkill, process, carrier, number);
    }
    --self.handlers;
    signal_mask_changed(self.fiber);
    return true;
}

End wait_once(Thread& self, Wait const& wait) {
    running = nullptr;
    self.wait = wait;
    self.waiting = true;
    self.interrupted = false;
    self.frame = __builtin_frame_address(0);
    if (wait.memory) ++detail::waiting_for_memory;
    detail::make_blocked(self);
    count_step();
    Thread& next = next_thread(nullptr, false);
    if (&next != &self) hand_over(self, next);
    if (wait.memory) --detail::waiting_for_memory;
    running = &self;
    return self.end;
}

// Main may end before the others, by pthread_exit; its keys' destructors run in rounds then, and this is the
// last.
pthread_key_t main_key;
void at_end_of_main(void* rounds_left) {
    auto const left = reinterpret_cast<std::uintptr_t>(rounds_left);
    if (left > 1)
        pthread_setspecific(main_key, reinterpret_cast<void*>(left - 1));
    else
        thread_ends();
}

// Small programs ask the kernel for nothing: heaps have room from the beginning. Each thread has a heap of
// its own (lending.cpp), so addresses do not depend on the order in which threads allocate. (An allocator of
// the program's own takes no notice.)
void settle_heaps() {
    constexpr int room = 16 << 20, largest_block = 4 << 20, most_heaps = 4096;
    mallopt(M_ARENA_MAX, most_heaps);
    mallopt(M_MMAP_THRESHOLD, largest_block);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_TOP_PAD, room);
    void* volatile const block = malloc(largest_block / 2);
    free(block);
}

void* as_object(ThreadId id) {
    return reinterpret_cast<void*>(std::uintptr_t{id} + 1);
}

bool has_ended(void* object) {
    return detail::find(static_cast<ThreadId>(reinterpret_cast<std::uintptr_t>(object) - 1)) == nullptr;
}

}  // namespace

void (*before_others_run)();

namespace detail {

bool exploring = false;
bool as_explored = false;
constinit thread_local Thread* self [[gnu::tls_model("initial-exec")]] = nullptr;

Thread* find(ThreadId id) {
    for (ThreadList const* list : {&runnable, &blocked}) {
        for (std::uint32_t i = 0; i < list->count; ++i) {
            if (list->items[i]->id == id) return list->items[i];
        }
    }
    return nullptr;
}

bool has_turn() {
    return self != nullptr && running == self;
}

Thread const* thread_with_turn() {
    return __atomic_load_n(&running, __ATOMIC_ACQUIRE);
}

void step(bool yields) {
    if (before_others_run != nullptr) before_others_run();
    if (!has_turn() || self->pinned != 0) return;
    running = nullptr;
    count_step();
    Thread& next = next_thread(self, yields);
    if (&next != self) hand_over(*self, next);
    running = self;
    if (self->sent_signals != 0) deliver_signals(*self);
}

void step(Operation const& operation, bool yields) {
    if (exploring && has_turn() && self->pinned == 0) execution::announce(*self, operation);
    step(yields);
}

}  // namespace detail

namespace {

void start_choices(Settings const& settings, std::uint64_t seed) {
    detail::choices.state = ~seed;
    weak_reads = {settings.weak_from,
                  settings.weak_reads != 0 ? settings.weak_reads : UINT64_MAX,
                  {~(settings.weak_seed != 0 ? settings.weak_seed : seed)}};
    strategy::start(settings);
    bool const is_run = settings.runs == 0 || options.run_number >= 0;
    if (settings.decisions != nullptr && is_run)
        decisions::open_to_write(with_numbers(settings.decisions), seed, 0);
}

}  // namespace

bool can_repeat() {
    return user_space_switching();
}

void prepare_to_repeat(std::uint32_t threads) {
    only_fiber(detail::self->fiber);
    settle_heaps();
    lending::start();
    lending::make(threads);
    decisions::note_threads_made_before(threads);
}

bool is_one_of_many() {
    return exploring() || series::is_run();
}

void start_again(Settings const& settings) {
    only_fiber(detail::self->fiber);
    start_choices(settings, settings.seed);
    strategy::created(*detail::self);
}

void start(Settings const& settings) {
    if (settings.kind == Kind::os) return;
    detail::exploring = settings.kind == Kind::explore && settings.replay == nullptr;
    step_limit = settings.steps;
    std::uint64_t const seed =
        settings.replay != nullptr ? decisions::open_to_read(settings.replay) : settings.seed;
    detail::as_explored = detail::exploring || decisions::of_exploration();
    may_fail = decisions::of_exploration() ? decisions::failing_allocations() : settings.failing;
    start_choices(settings, seed);
    detail::start_waits();
    table = static_cast<Thread*>(memory::pages(detail::most_threads * sizeof(Thread)));
    Thread& main = claim(0);
    add(main);
    start_fibers(main.fiber, settings.futexes);
    if (detail::as_explored || decisions::were_threads_made_before()) {
        settle_heaps();
        lending::start();
    }
    run_is_ordinary = false;
    detail::self = running = &main;
    pthread_key_create(&main_key, at_end_of_main);
    pthread_setspecific(main_key, reinterpret_cast<void*>(std::uintptr_t{PTHREAD_DESTRUCTOR_ITERATIONS}));
}

bool block(Wait const& wait) {
    if (before_others_run != nullptr) before_others_run();
    Thread& self = *detail::self;
    if (wait.deadline != never) execution::note_untried(execution::time_limits);
    if (wait.outside) execution::note_untried(execution::outside);
    while (!wait.ready(wait.argument)) {
        End const end = wait_once(self, wait);
        bool const handled = deliver_signals(self);  // a handler may have taken what was ready
        bool const over = end == End::ready ? !handled : end != End::signal || wait.interruptible;
        if (!over) continue;
        self.end = end;  // a handler may have waited too
        return end == End::ready;
    }
    self.end = End::ready;
    return true;
}

int create_lent(ThreadId child, pthread_t* handle, pthread_attr_t const* attributes, void* (*routine)(void*),
                void* argument) {
    Thread& thread = claim(child);
    int const error = lending::begin(thread, handle, attributes, routine, argument);
    if (error != 0) thread.claimed = false;
    return error;
}

bool lends_threads() {
    return active() && lending::is_on();
}

void thread_created(ThreadId child) {
    Thread& thread = claim(child);
    if (!lending::is_on()) await_parked(thread.fiber);
    add(thread);
    thread.after = detail::self->last_event;
    series::note_thread();
    if (!detail::as_explored) watchdog::start();
}

void thread_begins(ThreadId id) {
    Thread& self = claim(id);
    detail::self = &self;
    lending::is_on() ? lending::begun(self) : await_first_turn(self.fiber);
    running = &self;
}

void thread_ends() {
    if (!active()) return;
    if (before_others_run != nullptr) before_others_run();
    Thread& self = *detail::self;
    wake(as_object(self.id));
    running = nullptr;
    detail::self = nullptr;
    runnable.remove(self);
    count_step();
    bool const last = runnable.count == 0 && detail::blocked.count == 0;
    if (last && lending::is_on()) exit(0);  // for the C library other threads live
    if (last) return;                       // the process ends with it
    Thread& next = next_thread(nullptr, false);
    record_switch(next);
    if (lending::is_on()) {
        self.claimed = false;
        switch_fibers(self.fiber, next.fiber);  // for good
    }
    leave_fibers(self.fiber, next.fiber);
    Locked const locked(table_lock);
    self.claimed = false;
}

bool wait_for_end(ThreadId id, std::int64_t deadline) {
    Thread* const thread = detail::find(id);
    bool const ended =
        thread == nullptr || detail::block_or_be_cancelled({has_ended, as_object(id), as_object(id),
                                                            "end of a thread", &thread->fiber.tid, deadline});
    if (ended) execution::note_joined(id);
    return ended;
}

void forked() {
    if (!active()) return;
    Thread& self = *detail::self;
    detail::forget_waits();
    runnable.add(self);
    for (std::uint32_t i = 0; i < places; ++i) table[i].claimed = &table[i] == &self;
    decisions::abandon();
    only_fiber(self.fiber);
    watchdog::forked();
}

std::uint32_t draw(std::uint32_t n) {
    if (n <= 1) return 0;
    if (!detail::as_explored) return detail::choices.below(n);
    execution::note_untried(execution::draws);
    return 0;
}

std::uint32_t choose(std::uint32_t n) {
    if (n <= 1) return 0;
    if (!detail::as_explored || n > execution::most_alternatives) return draw(n);
    std::uint32_t const way = detail::exploring ? execution::choose(n) : decisions::read_choice();
    return way < n ? way : 0;
}

bool allocation_fails() {
    if (!detail::as_explored || may_fail == 0 || !detail::has_turn()) return false;
    bool const fails = choose(2) == 1;
    may_fail -= fails;
    return fails;
}

std::uint32_t choose_write(std::uint32_t n) {
    if (n == 1 || taken < weak_reads.from || weak_reads.left == 0) return 0;
    if (taken > weak_reads.from && weak_reads.draw.below(2) == 0) return 0;
    --weak_reads.left;
    return 1 + weak_reads.draw.below(n - 1);
}

std::uint64_t steps() {
    return taken;
}

void finish() {
    execution::note_end(false);
    decisions::close_written();
}

}  // namespace fencepost::scheduler
