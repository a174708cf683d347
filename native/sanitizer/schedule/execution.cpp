#include "sanitizer/schedule/execution.hpp"

#include <algorithm>
#include <cstring>

#include "sanitizer/schedule/lending.hpp"
#include "sanitizer/schedule/rounds.hpp"
#include "sanitizer/schedule/waits.hpp"
#include "sanitizer/system/syscalls.hpp"

namespace fencepost::scheduler {

using detail::Thread;

namespace execution {

using detail::runnable;

Common* common = nullptr;
Shared* shared = nullptr;
std::uint32_t most_rounds = 20;

namespace {

ScFences fences = ScFences::ordered;
bool exits = false;  // the end of the process has been reached in order
std::uint32_t bound = UINT32_MAX, preemptions = 0;
std::uint32_t last_thread = no_thread;

// What memory holds, or the state of another object.
std::uint64_t state_before(Thread const& thread) {
    if (thread.operation.state != nullptr) return thread.operation.state(thread.operation.object);
    auto const* const memory = reinterpret_cast<void const*>(thread.pending.object);
    if (memory == nullptr || thread.pending.act == Act::use) return ~std::uint64_t{0};
    std::uint64_t bits = 0;
    if (thread.pending.size <= sizeof bits) std::memcpy(&bits, memory, thread.pending.size);
    return bits;
}

bool is_enabled(Thread const& thread) {
    if (thread.waiting && !detail::can_go_on(thread)) return false;
    if (thread.pending.until == Until::unknown)
        return thread.operation.wait->ready(thread.operation.wait->argument);
    return thread.pending.until == Until::always || can_happen(thread.pending, state_before(thread));
}

// The thread is about to do the same as in the execution that the event is from.
void expect(Event const& wanted, Thread const& thread) {
    if (same_step(thread.pending, wanted)) return;
    shared->wanted = wanted;
    shared->met = thread.pending;
    give_up(Outcome::apart);
}

bool sleeps(Thread const& thread) {
    for (std::uint32_t i = 0; i < shared->asleep; ++i) {
        if (shared->sleeping[i].thread != thread.id) continue;
        expect(shared->sleeping[i], thread);
        return true;
    }
    return false;
}

// A thread whose next step nobody can notice need not wait for its turn.
Thread* find_unnoticed() {
    Thread* first = nullptr;
    for (std::uint32_t i = 0; i < runnable.count; ++i) {
        Thread& thread = *runnable.items[i];
        if (thread.pending.act != Act::nothing || !is_enabled(thread)) continue;
        if (first == nullptr || thread.id < first->id) first = &thread;
    }
    return first;
}

Thread* find_planned() {
    Event const& planned = shared->plan[shared->events_count];
    for (std::uint32_t i = 0; i < runnable.count; ++i) {
        Thread& thread = *runnable.items[i];
        if (thread.id != planned.thread || !is_enabled(thread)) continue;
        expect(planned, thread);
        return &thread;
    }
    if (shared->events_count >= shared->changed) give_up(Outcome::in_vain);
    shared->wanted = planned;
    shared->met = {};
    give_up(Outcome::apart);
}

// How many events a thread may do in a row where others could go on: it may be waiting for them in a loop.
constexpr std::uint32_t longest_turn = 100;
std::uint32_t turn = 0;

// The thread of the last event, or else the next one by number.
Thread* find_free() {
    Thread const* const current = detail::find(last_thread);
    turn = current == nullptr || turn == longest_turn ? 0 : turn + 1;
    std::uint32_t const first = current == nullptr ? 0 : turn == 0 ? current->id + 1 : current->id;
    auto const distance = [&](Thread const& thread) { return thread.id - first; };  // around
    Thread* best = nullptr;
    bool some_sleep = false;
    for (std::uint32_t i = 0; i < runnable.count; ++i) {
        Thread& thread = *runnable.items[i];
        if (!is_enabled(thread)) continue;
        if (sleeps(thread)) {
            some_sleep = true;
        } else if (best == nullptr || distance(thread) < distance(*best)) {
            best = &thread;
        }
    }
    if (best == nullptr && some_sleep) give_up(Outcome::in_vain);
    return best;
}

void wake_sleeping(Event const& event) {
    std::uint32_t left = 0;
    for (std::uint32_t i = 0; i < shared->asleep; ++i) {
        if (!dependent(shared->sleeping[i], event, fences)) shared->sleeping[left++] = shared->sleeping[i];
    }
    shared->asleep = left;
}

void write_down(Event const& event) {
    if (shared->events_count == most_events) give_up(Outcome::too_large);
    std::uint32_t const place = shared->events_count++;
    shared->events[place] = event;
    if (place >= shared->changed) wake_sleeping(event);
}

void complete(Thread& thread) {
    thread.pending.before = state_before(thread);
    thread.pending.after = thread.after;
    thread.pending.joined = thread.joined;
    thread.after = no_event;
    thread.joined = 0;
}

// A thread that could have gone on does not.
void count_preemption(Thread const& next) {
    Thread const* const last = last_thread != next.id ? detail::find(last_thread) : nullptr;
    last_thread = next.id;
    bool const could_go_on =
        last != nullptr && last->runnable && last->pending.act != Act::nothing && is_enabled(*last);
    if (could_go_on && ++preemptions > bound) give_up(Outcome::bounded);
}

// What the thread has read since it last changed anything.
void note_in_path(Thread& thread) {
    Event const& e = thread.pending;
    if (e.object == 0 && e.act == Act::update) return;  // a fence
    bool const reads = e.act == Act::read || e.act == Act::update || (e.act == Act::compare && !writes(e));
    if (reads && thread.at_step)
        thread.path.note_value(e.before);
    else
        thread.path.forget();
    if (writes(e) && e.act != Act::update) thread.repeated.forget();
    thread.at_step = false;
}

void take(Thread& thread) {
    count_preemption(thread);
    complete(thread);
    write_down(thread.pending);
    exits |= thread.pending.act == Act::end;
    note_in_path(thread);
    thread.last_event = static_cast<std::int32_t>(shared->events_count - 1);
    thread.pending = {};
    thread.operation = {};
}

// A crash is no event: it comes at once after the last one, perhaps in a thread that was let go on by it.
// Choices stay with the event that they follow.
void note_crash() {
    std::uint32_t last = shared->events_count;
    while (last > 1 && shared->events[last - 1].act == Act::choose) --last;
    if (last != 0) shared->events[last - 1].crashes = true;
}

// Threads that wait for a value look once more, whether an old one would do; then they are blocked like
// others.
Thread* find_looking() {
    for (std::uint32_t i = 0; i < runnable.count; ++i) {
        Thread& thread = *runnable.items[i];
        if (!thread.operation.looks_before_waiting) continue;
        thread.pending = {};
        thread.operation = {};
        return &thread;
    }
    return nullptr;
}

void block(Thread& thread) {
    static constexpr auto no = [](void*) { return false; };
    Wait const loop{no, nullptr, reinterpret_cast<void const*>(thread.pending.object), "wait"};
    if (!thread.waiting) thread.wait = thread.operation.wait != nullptr ? *thread.operation.wait : loop;
    thread.waiting = true;
    detail::make_blocked(thread);
}

// Its time may run out, or what it has read before in this round has changed: other executions try that.
bool waits_longer_than_it_must(Thread const& thread) {
    Wait const* const wait = thread.waiting ? &thread.wait : thread.operation.wait;
    if (thread.pending.until == Until::no_round && !thread.path.still_holds(thread.round)) return true;
    return thread.pending.until == Until::busy || (wait != nullptr && wait->time_limit);
}

bool some_wait_too_long() {
    for (detail::ThreadList const* list : {&runnable, &detail::blocked}) {
        for (std::uint32_t i = 0; i < list->count; ++i)
            if (waits_longer_than_it_must(*list->items[i])) return true;
    }
    return false;
}

// Of memory that a thread waits for, do several threads write different parts? The exploration may miss
// orders in which it sees one of them before another is written.
bool waits_for_parts() {
    Event const* const begin = shared->events;
    Event const* const end = begin + shared->events_count;
    return std::any_of(begin, end, [&](Event const& wait) {
        if (wait.until != Until::equal && wait.until != Until::no_round) return false;
        auto const is_written = [&](Event const& e) {
            return writes(e) && touches(e, wait.object, wait.size);
        };
        return std::any_of(begin, end, [&](Event const& part) {
            if (!is_written(part) || same_memory(part, wait)) return false;
            return std::any_of(begin, end, [&](Event const& other) {
                return other.thread != part.thread && is_written(other) && !same_memory(other, part);
            });
        });
    });
}

Thread& find_stuck() {
    bool const first = shared->outcome == Outcome::running;
    note_end(true);
    if (first && some_wait_too_long()) give_up(Outcome::idle);
    if (Thread* const thread = find_looking(); thread != nullptr) return *thread;
    while (runnable.count != 0) block(*runnable.items[0]);
    detail::find_runnable();  // reports the deadlock
    return *runnable.items[0];
}

}  // namespace

void begin(Settings const& settings) {
    most_rounds = settings.rounds;
    bound = settings.bound;
    preemptions = 0;
    last_thread = no_thread;
    fences = settings.sc_fences_commute ? ScFences::commute : ScFences::ordered;
}

void announce(Thread& thread, Operation const& operation) {
    thread.operation = operation;
    Event& event = thread.pending;
    event = {};
    event.thread = thread.id;
    event.act = operation.act;
    event.until = operation.until;
    event.size = operation.size;
    event.sc = operation.sc;
    event.object = reinterpret_cast<std::uintptr_t>(operation.object);
    event.second = reinterpret_cast<std::uintptr_t>(operation.second);
    event.expected = operation.expected;
    event.awaited = operation.awaited;
    event.pc = operation.pc;
    event.after = no_event;
}

Thread& next(Thread* from) {
    if (from != nullptr) from->frame = __builtin_frame_address(0);  // it may be blocked here
    if (Thread* const thread = find_unnoticed(); thread != nullptr) return *thread;
    if (shared->outcome == Outcome::stuck) return find_stuck();
    bool const by_plan = shared->events_count < shared->planned;
    Thread* const thread = by_plan ? find_planned() : find_free();
    if (thread == nullptr) return find_stuck();
    take(*thread);
    return *thread;
}

// A choice is an event of its own that comes at once. Executions take the first way, unless it is planned.
std::uint32_t choose(std::uint32_t alternatives) {
    Thread& self = *detail::self;
    if (shared->outcome != Outcome::running) return 0;
    Event event{};
    event.thread = self.id;
    event.act = Act::choose;
    event.alternatives = alternatives;
    event.after = self.after;
    event.joined = self.joined;
    self.after = no_event;
    self.joined = 0;
    if (shared->events_count < shared->planned) {
        Event const& planned = shared->plan[shared->events_count];
        event.chosen = planned.chosen;
        if (!same_step(event, planned)) {
            shared->wanted = planned;
            shared->met = event;
            give_up(Outcome::apart);
        }
    }
    write_down(event);
    self.last_event = static_cast<std::int32_t>(shared->events_count - 1);
    self.repeated.forget();
    self.path.forget();
    return event.chosen;
}

void note_switch(std::uint64_t steps, std::uint32_t to) {
    if (shared->switches_count == most_switches) give_up(Outcome::too_large);
    shared->switches[shared->switches_count++] = {steps, to};
}

void note_untried(Untried what) {
    if (common != nullptr) __atomic_fetch_or(&common->untried, what, __ATOMIC_RELAXED);
}

void note_joined(std::uint32_t thread) {
    if (shared == nullptr || detail::self == nullptr) return;
    if (thread < most_joined)
        detail::self->joined |= std::uint64_t{1} << thread;
    else
        note_untried(many_threads);
}

void note_end(bool stuck) {
    if (shared == nullptr || shared->outcome != Outcome::running) return;
    shared->outcome = stuck ? Outcome::stuck : Outcome::ended;
    shared->steps = detail::taken;
    shared->threads = lending::lent();
    if (!stuck && !exits) note_crash();
    for (std::uint32_t i = 0; i < runnable.count; ++i) {
        Thread& thread = *runnable.items[i];
        if (thread.pending.act == Act::nothing) continue;
        complete(thread);
        thread.pending.pending = true;
        write_down(thread.pending);
    }
    if (waits_for_parts()) note_untried(parts);
}

void give_up(Outcome outcome) {
    shared->outcome = outcome;
    shared->steps = detail::taken;
    shared->threads = lending::lent();
    end_process(0);
}

}  // namespace execution

void look_for_rounds(Operation& operation, std::uint64_t state) {
    Thread& self = *detail::self;
    auto const address = reinterpret_cast<std::uintptr_t>(operation.object);
    bool const known = state != 0 && operation.size <= sizeof(std::uint64_t);
    if (!known) self.path.forget();
    std::uint32_t const before = known ? self.path.find(state) : Path::none;
    if (before != Path::none && execution::shared->outcome == execution::Outcome::running) {
        bool const added = add_round(self.path.key(before), self.path.last_value());
        execution::give_up(added ? execution::Outcome::round : execution::Outcome::cut);
    }
    if (!self.repeated.count(operation.pc, address, execution::most_rounds))
        execution::give_up(execution::Outcome::cut);
    if (!known) return;
    self.path.add({state, 0, address, operation.size});
    self.at_step = true;
    std::uint64_t const key = self.path.find_round(self.round);
    if (operation.until != Until::always || key == 0) return;
    operation.until = Until::no_round;
    operation.awaited = key;
}

void detail::memory_has_changed() {
    self->path.forget();
    self->repeated.forget();
}

void exit_point() {
    if (!exploring()) return;
    Operation operation;
    operation.act = Act::end;
    point(operation);
}

namespace {

// The place of the hash, or the one where it may be put; null if there is none left.
std::uint64_t* place_of(std::uint64_t hash) {
    if (execution::common == nullptr) return nullptr;
    for (std::size_t i = 0; i < execution::most_told; ++i) {
        std::uint64_t& told = execution::common->told[(hash + i) % execution::most_told];
        std::uint64_t const now = __atomic_load_n(&told, __ATOMIC_RELAXED);
        if (now == hash || now == 0) return &told;
    }
    return nullptr;
}

// False if it was there.
bool add_told(std::uint64_t hash) {
    for (std::uint64_t* place; (place = place_of(hash)) != nullptr;) {
        std::uint64_t before = 0;
        if (__atomic_compare_exchange_n(place, &before, hash, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return true;
        if (before == hash) return false;
    }
    return true;
}

}  // namespace

bool is_news(std::uint64_t hash) {
    if (!is_new_line(hash)) return false;
    if (execution::common != nullptr) execution::shared->found_something = true;
    return true;
}

bool is_new_line(std::uint64_t hash) {
    if (execution::common == nullptr) return true;
    if (!add_told(hash)) return false;
    execution::shared->told_something = true;
    return true;
}

bool is_known(std::uint64_t hash) {
    std::uint64_t const* const place = place_of(hash);
    return place != nullptr && __atomic_load_n(place, __ATOMIC_RELAXED) == hash;
}

void note_known(std::uint64_t hash) {
    if (execution::common != nullptr) add_told(hash);
}

void count_atomics(std::uint64_t count) {
    if (execution::common != nullptr)
        __atomic_fetch_add(&execution::common->atomics, count, __ATOMIC_RELAXED);
}

}  // namespace fencepost::scheduler
