#include "sanitizer/core/threads.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>

#include "sanitizer/core/history.hpp"
#include "sanitizer/system/memory.hpp"
#include "sanitizer/system/options.hpp"
#include "sanitizer/system/processor.hpp"
#include "sanitizer/system/signal_mask.hpp"
#include "sanitizer/system/syscalls.hpp"
#include "sanitizer/system/text.hpp"

extern "C" void* __libc_stack_end;

namespace fencepost {

constinit thread_local Thread* this_thread [[gnu::tls_model("initial-exec")]] = nullptr;
std::uint32_t clock_width = lanes;
std::uint32_t gate;
void (*finish_unfinished_write)(Thread&);
Lock threads_lock;
Thread* all_threads;
SlotState* slots;
std::uint32_t slot_count;
Time* known_to_all;

namespace {

using kernel::call;

constexpr long no_such_thread = -3;  // ESRCH
constexpr std::size_t usual_stack_bytes = std::size_t{8} << 20;

Lock world_lock;
std::uint32_t threads_made;
bool warned_of_limit;

std::size_t clock_bytes() {
    return options.threads_limit * sizeof(Time);
}

void register_barriers() {
    long const answer = call(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    if (answer != 0) __atomic_fetch_or(&gate, needs_barrier, __ATOMIC_SEQ_CST);
}

// For a thread to leave its hook. That is soon, unless it has lost the processor there.
void wait_a_little(int round) {
    constexpr int looking = 100, letting_run = 8;
    if (round < looking) return pause_processor();
    if (round < looking + letting_run) return let_others_run();
    timespec const time{0, 20'000};
    call(SYS_nanosleep, &time, nullptr);
}

bool lives(Thread const& t) {
    return t.state == Thread::State::made || t.state == Thread::State::running;
}

bool kernel_thread_is_gone(Thread const& t) {
    return call(SYS_tgkill, call(SYS_getpid), t.tid, 0) == no_such_thread;
}

// Its slot keeps what others know of its steps; the next thread that knows them all may go on with it.
void leave_slot(Thread& t) {
    if (t.slot == no_slot) return;
    Time const last_marked = t.sc_clocks == nullptr ? 0 : (*t.sc_clocks)[strongly_before].accesses[t.slot];
    slots[t.slot] = {nullptr, t.time, last_marked, true, t.records};
    t.slot = no_slot;
}

void forget_thread(Thread& t) {
    leave_slot(t);
    ScClocks::release(t.sc_clocks);
    retire(t.provenance);
    t.state = Thread::State::unused;
    t.handle = pthread_t{};
}

Thread* reusable_thread() {
    for (Thread* t = all_threads; t != nullptr; t = t->next) {
        if (t->state == Thread::State::ended && t->detached && t->published && kernel_thread_is_gone(*t))
            forget_thread(*t);
        if (t->state == Thread::State::unused) return t;
    }
    return nullptr;
}

// threads_lock is held.
Thread* new_thread() {
    Thread* t = reusable_thread();
    if (t == nullptr) {
        t = static_cast<Thread*>(memory::pages(sizeof(Thread)));
        auto* const clocks = static_cast<char*>(memory::pages(3 * clock_bytes()));
        t->current = reinterpret_cast<Time*>(clocks);
        t->acquire = reinterpret_cast<Time*>(clocks + clock_bytes());
        t->sc = reinterpret_cast<Time*>(clocks + 2 * clock_bytes());
        t->next = all_threads;
        __atomic_store_n(&all_threads, t, __ATOMIC_RELEASE);
    } else {
        Time* const clocks[] = {t->current, t->acquire, t->sc};
        Thread* const next = t->next;
        __builtin_memset(static_cast<void*>(t), 0, sizeof *t);
        t->current = clocks[0];
        t->acquire = clocks[1];
        t->sc = clocks[2];
        t->next = next;
        for (Time* clock : clocks) __builtin_memset(clock, 0, clock_width * sizeof(Time));
    }
    t->slot = no_slot;
    t->changed = t->changed_by_others = t->has_learned = true;
    t->id = threads_made++;
    t->provenance = make_provenance(t->id);
    t->sc_version = std::uint64_t{t->id + 1} << 40;
    t->state = Thread::State::made;
    return t;
}

// The C library keeps a thread's control block at the top of its stack, and thread-local storage below that.
// The lowest eighth is left out, because the control block is not quite at the top.
void find_own_stack(Thread& t) {
    if (t.id == 0) {
        t.stack_high = reinterpret_cast<std::uintptr_t>(__libc_stack_end);
        t.stack_low = t.stack_high - usual_stack_bytes;
        return;
    }
    auto const here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    auto const control_block = static_cast<std::uintptr_t>(pthread_self());
    bool const below = here < control_block && control_block - here < t.stack_bytes;
    t.stack_high = below ? control_block : here;
    t.stack_low = below ? control_block - t.stack_bytes / 8 * 7 : here;
}

}  // namespace

void start_threads() {
    if (options.threads_limit > most_slots) options.threads_limit = most_slots;
    slots = static_cast<SlotState*>(memory::pages(options.threads_limit * sizeof(SlotState)));
    known_to_all = static_cast<Time*>(memory::pages(clock_bytes()));
    register_barriers();
    set_history(options.history);
    threads_lock.lock();
    Thread* const t = new_thread();
    threads_lock.unlock();
    thread_runs(t);
}

Thread* adopt_thread() {
    SignalsBlocked const alone;
    if (this_thread != nullptr) return this_thread;  // a signal handler was faster
    threads_lock.lock();
    Thread* const t = new_thread();
    // Nobody asks any more for what all know.
    for (Time* clock : {t->current, t->acquire, t->sc}) copy(clock, known_to_all, clock_width);
    threads_lock.unlock();
    t->detached = t->published = true;
    t->stack_bytes = usual_stack_bytes;
    thread_runs(t);
    return t;
}

namespace {

// Whoever knows its steps will know those of the dead thread, and so must it. The same for marked steps.
bool may_go_on_with(Thread const& t, Slot s) {
    SlotState const& slot = slots[s];
    if (t.current[s] < slot.last || t.sc[s] < slot.last) return false;
    if (slot.last_marked == 0) return true;
    return t.sc_clocks != nullptr && s < t.sc_clocks->width() &&
           (*t.sc_clocks)[strongly_before].accesses[s] >= slot.last_marked;
}

}  // namespace

bool take_slot(Thread& t) {
    Locked held(threads_lock);
    for (Slot s = 0; s < slot_count; ++s) {
        auto& slot = slots[s];
        if (slot.owner != nullptr) continue;
        if (slot.dead && !may_go_on_with(t, s)) continue;
        t.slot = s;
        t.time = slot.dead ? slot.last : 0;
        t.records = slot.records;
        slot = {&t, 0, 0, false, {}};
        return true;
    }
    if (slot_count == options.threads_limit) {
        if (!warned_of_limit)
            write_all(2, "fencepost: too many threads; some are not watched (threads_limit)\n");
        warned_of_limit = true;
        t.unwatched = true;
        return false;
    }
    t.slot = slot_count++;
    t.time = 0;
    slots[t.slot] = {&t, 0, 0, false, {}};
    std::uint32_t const needed = (slot_count + lanes - 1) / lanes * lanes;
    __atomic_store_n(&clock_width, needed, __ATOMIC_RELEASE);
    return true;
}

namespace {

// `other` creates the thread, or is joined by it.
void learn_sc_clocks(Thread& t, Thread& other) {
    if (other.sc_clocks == nullptr) return;
    ScClocks& clocks = ready_sc_clocks(t);
    for (ThreadClock const now : {strongly_before, fences_before, eco_before})
        join(clocks[now], (*other.sc_clocks)[now]);
    t.after_fence = t.after_fence || other.after_fence;
    t.after_eco = t.after_eco || other.after_eco;
}

// Likewise.
void note_order(Thread& t, Thread const& other) {
    if (other.slot == no_slot) return;  // it has done nothing
    AccessAt const from{0, other.id, Access::synchronisation, Order::release};
    AccessAt const to{0, t.id, Access::synchronisation, Order::acquire};
    add_link(*t.provenance, {0, from, to, moment_of(other), t.provenance->fences, true});
}

}  // namespace

Thread* make_thread(Thread& parent) {
    Locked held(threads_lock);
    Thread* const child = new_thread();
    child->parent = parent.id;
    copy(child->current, parent.current, clock_width);
    copy(child->acquire, parent.current, clock_width);
    copy(child->sc, parent.sc, clock_width);
    learn_sc_clocks(*child, parent);
    note_order(*child, parent);
    return child;
}

void thread_not_made(Thread* t) {
    Locked held(threads_lock);
    forget_thread(*t);
}

void thread_runs(Thread* t) {
    t->tid = static_cast<std::int32_t>(call(SYS_gettid));
    t->handle = pthread_self();
    this_thread = t;
    own_backoffs = &t->backoffs;
    find_own_stack(*t);
    t->state = Thread::State::running;
}

void fiber_begins(Thread& t) {
    t.is_fiber = t.detached = true;
    t.state = Thread::State::running;
}

void name_thread(Thread& t, char const* name) {
    std::size_t length = 0;
    for (; length + 1 < sizeof t.name && name[length] != '\0'; ++length) t.name[length] = name[length];
    t.name[length] = '\0';
}

void thread_has_ended(Thread& t) {
    leave_room();
    t.state = Thread::State::ended;
}

void wait_to_join(Thread& t, Thread* child) {
    Locked held(threads_lock);
    t.joins = child;
}

void learn_from(Thread& t, Thread& other) {
    join(t.current, other.current, clock_width);
    join(t.acquire, other.current, clock_width);
    join(t.sc, other.sc, clock_width);
    learn_sc_clocks(t, other);
    note_order(t, other);
    t.changed = t.changed_by_others = t.has_learned = t.has_new_sc_clocks = true;
    change_sc_version(t);
}

void join_thread(Thread& t, Thread* child) {
    learn_from(t, *child);
    Locked held(threads_lock);
    t.joins = nullptr;
    forget_thread(*child);
}

void find_known_to_all() {
    for (std::uint32_t i = 0; i < clock_width; i += detail::vector_lanes) {
        detail::Vector least = detail::load(known_to_all + i);
        bool first = true;
        for (Thread const* t = all_threads; t != nullptr; t = t->next) {
            if (!lives(*t)) continue;
            detail::Vector known = detail::load(t->current + i);
            if (t->joins != nullptr) known = detail::later(known, detail::load(t->joins->current + i));
            least = first ? known : detail::earlier(known, least);
            first = false;
        }
        detail::store(known_to_all + i, least);
    }
}

void detach_thread(Thread& t) {
    t.detached = true;
}

Thread* find_thread(pthread_t handle) {
    SignalsBlocked const alone;  // not in a hook
    Locked held(threads_lock);
    for (Thread* t = all_threads; t != nullptr; t = t->next) {
        bool const lives = t->state == Thread::State::made || t->state == Thread::State::running ||
                           (t->state == Thread::State::ended && !t->detached);
        if (lives && pthread_equal(t->handle, handle)) return t;
    }
    return nullptr;
}

void in_child_of_fork() {
    register_barriers();
    this_thread->tid = static_cast<std::int32_t>(call(SYS_gettid));
    for (Thread* t = all_threads; t != nullptr; t = t->next) {
        if (t == this_thread || t->is_fiber || t->state == Thread::State::unused) continue;
        t->in_hook = 0;
        forget_thread(*t);
    }
}

void enter_slowly(Thread& t) {
    constexpr int rounds_of_looking = 1000;
    auto const stopped = [] { return (__atomic_load_n(&gate, __ATOMIC_ACQUIRE) & world_stops) != 0; };
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    while (stopped()) {
        __atomic_store_n(&t.in_hook, 0, __ATOMIC_RELEASE);
        // Mostly not for as long as it takes to sleep and be woken.
        for (int round = 0; round < rounds_of_looking && stopped(); ++round) pause_processor();
        while (stopped())
            call(SYS_futex, &gate, FUTEX_WAIT_PRIVATE, __atomic_load_n(&gate, __ATOMIC_RELAXED) | world_stops,
                 nullptr, nullptr, 0);
        __atomic_store_n(&t.in_hook, 1, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    }
    if (t.unfinished.size != 0) finish_unfinished_write(t);
}

StoppedWorld::StoppedWorld() {
    Thread& self = current_thread();
    SignalsBlocked const alone;
    world_lock.lock();
    // A signal handler in this thread must not wait for the world to go on.
    __atomic_store_n(&self.in_hook, 1, __ATOMIC_RELAXED);
    std::uint32_t const before = __atomic_fetch_or(&gate, world_stops, __ATOMIC_SEQ_CST);
    if ((before & needs_barrier) == 0) call(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    for (Thread* t = __atomic_load_n(&all_threads, __ATOMIC_ACQUIRE); t != nullptr; t = t->next)
        for (int round = 0; t != &self && __atomic_load_n(&t->in_hook, __ATOMIC_ACQUIRE) != 0; ++round)
            wait_a_little(round);
    threads_lock.lock();
}

StoppedWorld::~StoppedWorld() {
    threads_lock.unlock();
    __atomic_fetch_and(&gate, ~std::uint32_t{world_stops}, __ATOMIC_RELEASE);
    call(SYS_futex, &gate, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
    world_lock.unlock();
    __atomic_store_n(&current_thread().in_hook, 0, __ATOMIC_RELEASE);
}

}  // namespace fencepost
