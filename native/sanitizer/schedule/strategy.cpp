#include "sanitizer/schedule/strategy.hpp"

#include "sanitizer/schedule/decisions.hpp"
#include "sanitizer/schedule/execution.hpp"
#include "sanitizer/schedule/waits.hpp"
#include "sanitizer/system/syscalls.hpp"

namespace fencepost::scheduler::strategy {

using detail::Random;
using detail::Thread;

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
// priority i. Below zero are those that fell because others must run: a thread that yields, one that had no
// effect for `patience` steps, and one that ran for `turn` steps without a break.
constexpr std::uint32_t patience = 100;
constexpr std::uint64_t turn = 10'000;
constexpr std::uint32_t most_changes = 64;

struct Pct {
    std::uint64_t changes[most_changes];  // steps; 0 once passed
    std::uint32_t count;
    std::uint64_t next_change;
    std::int64_t lowest;
    bool compare;  // somebody may have a higher priority than the running thread
} pct;

// Where the length of the run is not known, each order of magnitude up to a million is as likely as any
// other.
std::uint64_t random_step(std::uint64_t length) {
    if (length != 0) return 1 + draw.next() % length;
    std::uint64_t const scale = std::uint64_t{1} << draw.below(20);
    return scale + draw.next() % scale;
}

void find_next_change() {
    pct.next_change = UINT64_MAX;
    for (std::uint32_t i = 0; i < pct.count; ++i) {
        if (pct.changes[i] != 0 && pct.changes[i] < pct.next_change) pct.next_change = pct.changes[i];
    }
}

void start_pct(Settings const& settings) {
    pct.count = settings.depth > most_changes ? most_changes : settings.depth == 0 ? 0 : settings.depth - 1;
    for (std::uint32_t i = 0; i < pct.count; ++i) pct.changes[i] = random_step(settings.length);
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
        if (!(yields || spins || long_turn || change || pct.compare)) return *current;
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
    if (way == Way::pct)
        thread.priority = static_cast<std::int64_t>(draw.next() >> 32 | std::uint64_t{1} << 32);
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
