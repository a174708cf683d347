#include "sanitizer/schedule/strategy.hpp"

#include "sanitizer/schedule/decisions.hpp"
#include "sanitizer/schedule/execution.hpp"
#include "sanitizer/schedule/waits.hpp"
#include "sanitizer/system/syscalls.hpp"

namespace fencepost::scheduler::strategy {

using detail::Random;
using detail::Thread;
using detail::ThreadList;

namespace {

enum class Way : std::uint8_t { random, pct, replay, explore };

Way way;
Random draw;

// The step after which a weak execution leaves the schedule of the run that it goes on from.
struct Departure {
    std::uint64_t after;  // 0: it does not
    std::uint64_t seed;
} departure;

void depart() {
    way = Way::random;
    draw.state = departure.seed;
    departure = {};
}

Thread& random_next(Thread* current, bool yields) {
    auto const& list = detail::runnable;
    if (list.count == 1) return *list.items[0];
    if (!yields || current == nullptr) return *list.items[draw.below(list.count)];
    std::uint32_t const other = draw.below(list.count - 1);
    return *list.items[other < current->place ? other : other + 1];
}

// PCT. Threads start with random priorities from 2^31 on; the i-th change point gives the running thread
// priority i. A change point is a step of the run, or, less often, a step of one thread: what one thread does
// in a hundred steps would be lost in the twenty thousand that another polls. Where so many changes are
// wanted that they are not kept, there is one at each step with a probability that makes as many, and it
// gives the running thread and another one new random priorities. Below zero are those that fell because
// others must run: a thread that yields, one that had no effect for `patience` steps, and one that ran for
// `turn` steps without a break.
constexpr std::uint32_t patience = 100;
constexpr std::uint64_t turn = 10'000;
constexpr std::uint32_t most_changes = 64;

struct Pct {
    std::uint64_t changes[most_changes];      // steps of the run; 0: passed, or of a thread
    std::uint64_t own_changes[most_changes];  // steps of a thread, or 0
    std::uint32_t count;
    std::uint64_t next_change;
    std::int64_t lowest;
    std::uint32_t rate;     // probability of a change, as a part of 2^32
    std::uint32_t threads;  // so far
    bool compare;           // somebody may have a higher priority than the running thread
} pct;

// Each order of magnitude is as likely as any other, up to that of the length; up to a million if that is not
// known.
std::uint64_t random_scale(std::uint64_t length) {
    std::uint32_t const scales = length == 0 ? 20 : 64 - static_cast<std::uint32_t>(__builtin_clzll(length));
    std::uint64_t const scale = std::uint64_t{1} << draw.below(scales);
    return scale + draw.next() % scale;
}

// Of the run: mostly anywhere, which is what its guarantee rests on; else more likely early.
std::uint64_t random_step(std::uint64_t length) {
    return length != 0 && draw.below(3) != 0 ? 1 + draw.next() % length : random_scale(length);
}

void find_next_change() {
    pct.next_change = UINT64_MAX;
    for (std::uint32_t i = 0; i < pct.count; ++i) {
        if (pct.changes[i] != 0 && pct.changes[i] < pct.next_change) pct.next_change = pct.changes[i];
    }
}

// At most at every other step. A run whose length is not known counts as a short one.
std::uint32_t rate_of(std::uint32_t changes, std::uint64_t length) {
    constexpr std::uint64_t most = std::uint64_t{1} << 31, usual_length = 1000;
    std::uint64_t const rate = (std::uint64_t{changes} << 32) / (length == 0 ? usual_length : length);
    return static_cast<std::uint32_t>(rate < most ? rate : most);
}

std::int64_t random_priority() {
    return static_cast<std::int64_t>(draw.next() >> 32 | std::uint64_t{1} << 32);
}

void start_pct(Settings const& settings) {
    std::uint32_t const changes = settings.depth == 0 ? 0 : settings.depth - 1;
    pct.rate = changes > most_changes ? rate_of(changes, settings.length) : 0;
    pct.count = changes > most_changes ? 0 : changes;
    for (std::uint32_t i = 0; i < pct.count; ++i) {
        bool const of_a_thread = draw.below(4) == 0;
        pct.changes[i] = of_a_thread ? 0 : random_step(settings.length);
        pct.own_changes[i] = of_a_thread ? random_scale(settings.length) : 0;
    }
    find_next_change();
    pct.compare = true;
}

void change_priority(Thread& thread) {
    for (std::uint32_t i = 0; i < pct.count; ++i) {
        if (pct.changes[i] != pct.next_change) continue;
        thread.priority = i;
        pct.changes[i] = 0;
        break;
    }
    find_next_change();
}

// Each thread gets it with the same probability, however many there will be: a later one may take it over.
void share_own_changes(Thread& thread) {
    ++pct.threads;
    thread.own_steps = 0;
    thread.own_changes = 0;
    for (std::uint32_t i = 0; i < pct.count; ++i) {
        if (pct.own_changes[i] == 0 || draw.below(pct.threads) != 0) continue;
        for (ThreadList const* list : {&detail::runnable, &detail::blocked})
            for (std::uint32_t j = 0; j < list->count; ++j)
                list->items[j]->own_changes &= ~(std::uint64_t{1} << i);
        thread.own_changes |= std::uint64_t{1} << i;
    }
}

// The thread has made a step: is one of its change points there? It gets that priority then.
bool meets_own_change(Thread& thread) {
    ++thread.own_steps;
    if (thread.own_changes == 0) [[likely]]
        return false;
    bool meets = false;
    for (std::uint32_t i = 0; i < pct.count; ++i) {
        if ((thread.own_changes >> i & 1) == 0 || thread.own_steps < pct.own_changes[i]) continue;
        thread.priority = i;
        thread.own_changes &= ~(std::uint64_t{1} << i);
        pct.own_changes[i] = 0;
        meets = true;
    }
    return meets;
}

// A thread that fell because it yielded may rise again.
bool changes_at_random(Thread& thread) {
    if (pct.rate == 0 || draw.next() >> 32 >= pct.rate) return false;
    auto const& list = detail::runnable;
    thread.priority = random_priority();
    list.items[draw.below(list.count)]->priority = random_priority();
    return true;
}

Thread& highest() {
    auto const& list = detail::runnable;
    Thread* best = list.items[0];
    for (std::uint32_t i = 1; i < list.count; ++i) {
        if (list.items[i]->priority > best->priority) best = list.items[i];
    }
    return *best;
}

Thread& pct_next(Thread* current, bool yields) {
    if (current != nullptr) {
        bool const spins = ++detail::steps_without_effect >= patience;
        bool const long_turn = detail::taken - detail::run_started >= turn;
        bool const change = detail::taken >= pct.next_change;
        bool const own_change = meets_own_change(*current) || changes_at_random(*current);
        if (!(yields || spins || long_turn || change || own_change || pct.compare)) return *current;
        if (yields || spins || long_turn) {
            current->priority = --pct.lowest;
            detail::steps_without_effect = 0;
        }
        if (change) change_priority(*current);
    }
    pct.compare = false;
    Thread& best = highest();
    if (&best != current) detail::steps_without_effect = 0;
    return best;
}

struct Replay {
    decisions::Run run;
    std::uint64_t end;  // the step at which it is over
} replay;

void next_run() {
    do {
        if (!decisions::read(replay.run)) replay.run = {no_thread, UINT64_MAX};
        std::uint64_t const left = UINT64_MAX - replay.end;
        replay.end += replay.run.steps < left ? replay.run.steps : left;
    } while (replay.run.steps == 0);
}

void leave_replay() {
    constexpr char warning[] =
        "fencepost: the program has left the recorded schedule; it goes on at random\n";
    if (replay.run.thread != no_thread) kernel::call(SYS_write, 2, warning, sizeof warning - 1);
    way = Way::random;
}

// A thread that was woken in vain is handed out too: it is blocked again, and the question comes back.
Thread& replay_next(Thread* current, bool yields) {
    if (detail::taken >= replay.end) next_run();
    if (current != nullptr && current->id == replay.run.thread) return *current;
    auto const& list = detail::runnable;
    for (std::uint32_t i = 0; i < list.count; ++i) {
        Thread& thread = *list.items[i];
        if (thread.id == replay.run.thread || !detail::can_go_on(thread)) return thread;
    }
    if (Thread* const thread = detail::find(replay.run.thread);
        thread != nullptr && detail::await_outside(*thread))
        return *thread;
    leave_replay();
    return random_next(current, yields);
}

}  // namespace

void start(Settings const& settings) {
    draw.state = settings.seed;
    departure = {settings.weak_from, settings.weak_seed};
    way = settings.kind == Kind::pct ? Way::pct : settings.kind == Kind::explore ? Way::explore : Way::random;
    if (way == Way::pct) start_pct(settings);
    if (settings.replay != nullptr) {
        way = Way::replay;
        next_run();
    }
}

void created(Thread& thread) {
    if (way != Way::pct) return;
    thread.priority = random_priority();
    share_own_changes(thread);
}

void can_run() {
    pct.compare = true;
}

Thread& next(Thread* current, bool yields) {
    if (departure.after != 0 && detail::taken > departure.after) depart();
    switch (way) {
        case Way::random:
            return random_next(current, yields);
        case Way::pct:
            return pct_next(current, yields);
        case Way::replay:
            return replay_next(current, yields);
        case Way::explore:
            return execution::next(current);
    }
    __builtin_unreachable();
}

}  // namespace fencepost::scheduler::strategy
