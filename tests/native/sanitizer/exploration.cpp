// The exploration runs exactly one execution for each graph, and none in vain: random straight-line programs,
// whose interleavings are all enumerated and told apart by who reads from whom, the order of writes, of SC
// fences and of calls on each mutex, and by what was chosen. (Where nobody can tell in advance whether a lock
// is free, some are in vain.) The programs run in a small interpreter here; tests/sanitizer/test_check.py
// does the same with compiled ones.
//
// links: sanitizer/schedule/exploration.cpp sanitizer/schedule/rounds.cpp
// links: sanitizer/system/memory.cpp sanitizer/system/lock.cpp sanitizer/system/text.cpp
#include "sanitizer/schedule/exploration.hpp"

#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/native/check.hpp"

using namespace fencepost;
using namespace fencepost::scheduler;

namespace {

enum class Kind {
    load,
    store,
    add,
    cas,
    wait,
    bcas,
    fence,
    lock,
    unlock,
    exit,
    choose,
    start,
    join,
    unlock_all
};
constexpr char const* names[] = {"load", "store",  "add",  "cas",    "wait",  "bcas", "fence",
                                 "lock", "unlock", "exit", "choose", "start", "join", "unlock_all"};

struct Operation {
    Kind kind;
    int location;  // or mutex, or thread
    std::uint64_t a, b;
    bool sc;
    std::uint8_t size = 1;  // in locations
    bool unknown = false;   // whether it can happen cannot be told in advance
};
using Program = std::vector<std::vector<Operation>>;

constexpr int locations = 3, mutexes = 2;

// One execution so far.
struct Run {
    Program const& program;
    std::vector<std::size_t> at;
    std::vector<std::vector<std::string>> history;  // per thread: what each event read
    std::uint64_t memory[locations] = {};
    std::string writer[locations];  // of the newest write
    std::string order[locations];   // of all writes
    bool held[mutexes] = {};
    std::string uses[mutexes];
    std::string fences;
    bool ended = false;
    std::vector<Event> events;
    // Per thread: whether it has been started; the event after which its next one comes, and the threads
    // whose end it has waited for.
    std::vector<bool> started;
    std::vector<std::int32_t> after;
    std::vector<std::uint64_t> joined;

    explicit Run(Program const& p)
        : program(p),
          at(p.size()),
          history(p.size()),
          started(p.size(), true),
          after(p.size(), no_event),
          joined(p.size()) {
        for (auto const& thread : p) {
            for (auto const& o : thread)
                if (o.kind == Kind::start) started[static_cast<std::size_t>(o.location)] = false;
        }
        for (std::size_t thread = 0; thread < p.size(); ++thread) run_on(thread);
    }

    // The end of a thread is waited for without an event.
    void run_on(std::size_t thread) {
        while (started[thread] && at[thread] < program[thread].size()) {
            Operation const& o = program[thread][at[thread]];
            auto const other = static_cast<std::size_t>(o.location);
            if (o.kind == Kind::join && started[other] && at[other] == program[other].size()) {
                joined[thread] |= std::uint64_t{1} << other;
            } else {
                return;
            }
            ++at[thread];
        }
        for (std::size_t waiting = 0; waiting < at.size(); ++waiting) {
            Operation const* const o = next(waiting);
            if (o != nullptr && o->kind == Kind::join && o->location == static_cast<int>(thread))
                run_on(waiting);
        }
    }

    // The thread that comes to a choice now, or none: a choice is made at once.
    std::size_t chooser() const {
        for (std::size_t thread = 0; thread < at.size(); ++thread)
            if (Operation const* const o = next(thread); o != nullptr && o->kind == Kind::choose)
                return thread;
        return at.size();
    }

    // 0 goes on, 1 leaves out the next operation, 2 the next two.
    void choose(std::size_t thread, std::uint32_t way) {
        Event e{};
        e.thread = static_cast<std::uint32_t>(thread);
        e.act = Act::choose;
        e.after = no_event;
        e.alternatives = static_cast<std::uint32_t>(next(thread)->a);
        e.chosen = way;
        e.after = after[thread];
        e.joined = joined[thread];
        note(e);
        history[thread].push_back("chosen " + std::to_string(way));
        at[thread] = std::min(at[thread] + 1 + way, program[thread].size());
        run_on(thread);
    }

    void note(Event const& e) {
        events.push_back(e);
        after[e.thread] = no_event;
        joined[e.thread] = 0;
    }

    Operation const* next(std::size_t thread) const {
        return ended || !started[thread] || at[thread] == program[thread].size()
                   ? nullptr
                   : &program[thread][at[thread]];
    }

    std::uint64_t held_in(Operation const& o) const {
        return memory[o.location] | (o.size == 2 ? memory[o.location + 1] << 8 : 0);
    }

    Event event(std::size_t thread, Operation const& o) const {
        Event e{};
        e.thread = static_cast<std::uint32_t>(thread);
        e.after = after[thread];
        e.joined = joined[thread];
        e.sc = o.sc;
        bool const on_mutex = o.kind == Kind::lock || o.kind == Kind::unlock;
        e.size = o.size;
        if (o.kind == Kind::unlock_all) {
            e.object = 100, e.second = 101;
        } else if (on_mutex) {
            e.object = 100 + static_cast<std::uintptr_t>(o.location);
            e.before = !held[o.location];
        } else if (o.kind != Kind::fence && o.kind != Kind::exit && o.kind != Kind::start) {
            e.object = 10 + static_cast<std::uintptr_t>(o.location);
            e.before = held_in(o);
        }
        switch (o.kind) {
            case Kind::load:
                e.act = Act::read;
                break;
            case Kind::wait:
                e.act = Act::read, e.until = Until::equal, e.awaited = o.a;
                break;
            case Kind::store:
                e.act = Act::write;
                break;
            case Kind::add:
                e.act = Act::update;
                break;
            case Kind::cas:
                e.act = Act::compare, e.expected = o.a;
                break;
            case Kind::bcas:
                e.act = Act::update, e.until = Until::equal, e.awaited = o.a;
                break;
            case Kind::fence:
                e.act = Act::update;
                break;
            case Kind::lock:
                e.act = Act::use, e.until = o.unknown ? Until::unknown : Until::free, e.awaited = 1;
                break;
            case Kind::unlock:
            case Kind::unlock_all:
                e.act = Act::use;
                break;
            case Kind::exit:
                e.act = Act::end;
                break;
            case Kind::start:
                e.act = Act::use;
                e.object = 1000;
                break;
            case Kind::choose:
            case Kind::join:
                break;
        }
        return e;
    }

    bool enabled(std::size_t thread) const {
        Operation const* const o = next(thread);
        if (o == nullptr || o->kind == Kind::join || (o->kind == Kind::lock && held[o->location]))
            return false;
        Event const e = event(thread, *o);
        return can_happen(e, e.before);
    }

    void step(std::size_t thread) {
        Operation const& o = *next(thread);
        note(event(thread, o));
        std::string const name = std::to_string(thread) + "." + std::to_string(at[thread]++);
        int const x = o.location;
        std::string seen;
        auto const write = [&](std::uint64_t value) {
            for (int at = x; at < x + o.size; ++at, value >>= 8) {
                memory[at] = o.size == 2 ? value & 0xff : value;
                writer[at] = name;
                order[at] += name + " ";
            }
        };
        auto const read = [&] {
            for (int at = x; at < x + o.size; ++at) seen += writer[at] + (at > x ? "+" : "");
        };
        if (o.sc) fences += name + " ";
        switch (o.kind) {
            case Kind::load:
            case Kind::wait:
                read();
                break;
            case Kind::store:
                write(o.a);
                break;
            case Kind::add:
                read();
                write(held_in(o) + o.a);
                break;
            case Kind::cas:
            case Kind::bcas:
                read();
                if (held_in(o) == o.a) write(o.b);
                break;
            case Kind::lock:
                held[x] = true;
                uses[x] += name + " ";
                break;
            case Kind::unlock:
                held[x] = false;
                uses[x] += name + " ";
                break;
            case Kind::unlock_all:
                for (int mutex = 0; mutex < mutexes; ++mutex) {
                    held[mutex] = false;
                    uses[mutex] += name + " ";
                }
                break;
            case Kind::exit:
                ended = true;
                break;
            case Kind::start:
                started[static_cast<std::size_t>(x)] = true;
                after[static_cast<std::size_t>(x)] = static_cast<std::int32_t>(events.size() - 1);
                uses[0] += name + " ";
                run_on(static_cast<std::size_t>(x));
                break;
            case Kind::fence:
            case Kind::choose:
            case Kind::join:
                break;
        }
        history[thread].push_back(seen);
        run_on(thread);
    }

    std::string graph(ScFences how) const {
        std::string text;
        for (auto const& thread : history) {
            for (auto const& one : thread) text += one + ",";
            text += ";";
        }
        for (auto const& one : order) text += one + ";";
        for (auto const& one : uses) text += one + ";";
        return how == ScFences::ordered ? text + fences : text;
    }
};

void enumerate(Run const& run, ScFences how, std::set<std::string>& graphs) {
    if (std::size_t const thread = run.chooser(); thread != run.at.size()) {
        for (std::uint32_t way = 0; way < run.next(thread)->a; ++way) {
            Run further = run;
            further.choose(thread, way);
            enumerate(further, how, graphs);
        }
        return;
    }
    bool last = true;
    for (std::size_t thread = 0; thread < run.at.size(); ++thread) {
        if (!run.enabled(thread)) continue;
        last = false;
        Run further = run;
        further.step(thread);
        enumerate(further, how, graphs);
    }
    if (last) graphs.insert(run.graph(how));
}

struct Counts {
    std::size_t executions = 0, in_vain = 0;
    std::multiset<std::string> graphs;
};

// As the scheduler does it: by the plan, then freely, but for what sleeps.
void execute(Program const& program, ScFences how, Walk& exploration, Chance& chance, Counts& counts) {
    Run run(program);
    std::vector<Event> sleeping(exploration.sleeping().begin(), exploration.sleeping().end());
    auto const choose = [&] {
        for (std::size_t thread; (thread = run.chooser()) != program.size();) {
            std::size_t const place = run.events.size();
            bool const planned = place < exploration.plan().size();
            if (planned) CHECK(exploration.plan()[place].act == Act::choose);
            run.choose(thread, planned ? exploration.plan()[place].chosen : 0);
            if (planned) CHECK(same_step(run.events.back(), exploration.plan()[place]));
            std::erase_if(sleeping, [&](Event const& e) {
                return place >= exploration.changed() && dependent(e, run.events.back(), how);
            });
        }
    };
    auto const go = [&](std::size_t thread) {
        run.step(thread);
        if (run.events.size() <= exploration.changed()) return;
        std::erase_if(sleeping, [&](Event const& e) { return dependent(e, run.events.back(), how); });
    };
    for (choose(); run.events.size() < exploration.plan().size(); choose()) {
        Event const& planned = exploration.plan()[run.events.size()];
        if (!run.enabled(planned.thread)) {
            ++counts.in_vain;
            return exploration.abandoned(run.events.data(), run.events.size());
        }
        go(planned.thread);
        CHECK(same_step(run.events.back(), planned));
        CHECK(writes(run.events.back()) == writes(planned));
    }
    for (;;) {
        std::vector<std::size_t> awake, able;
        for (std::size_t thread = 0; thread < program.size(); ++thread) {
            if (!run.enabled(thread)) continue;
            able.push_back(thread);
            bool asleep = false;
            for (Event const& e : sleeping) asleep |= e.thread == thread;
            if (!asleep) awake.push_back(thread);
        }
        if (able.empty()) break;
        if (awake.empty()) {
            ++counts.in_vain;
            return exploration.abandoned(run.events.data(), run.events.size());
        }
        go(awake[chance.below(awake.size())]);
        choose();
    }
    bool const ended = run.ended;
    run.ended = false;
    std::vector<Event> events = run.events;
    for (std::size_t thread = 0; thread < program.size(); ++thread) {
        if (Operation const* const o = run.next(thread); o != nullptr && o->kind != Kind::join) {
            events.push_back(run.event(thread, *o));
            events.back().pending = true;
        }
    }
    run.ended = ended;
    ++counts.executions;
    counts.graphs.insert(run.graph(how));
    exploration.completed(events.data(), events.size());
}

Program random_program(Chance& chance) {
    static constexpr Kind kinds[] = {Kind::load, Kind::load, Kind::load,  Kind::store, Kind::store,
                                     Kind::add,  Kind::cas,  Kind::cas,   Kind::wait,  Kind::bcas,
                                     Kind::lock, Kind::lock, Kind::fence, Kind::exit};
    Program program(2 + chance.below(3));
    std::size_t left = 9;
    int const used = 1 + static_cast<int>(chance.below(locations));
    for (auto& thread : program) {
        std::vector<int> held;
        for (std::size_t n = chance.below(5); n > 0 && left > 0; --n, --left) {
            Kind const kind = kinds[chance.below(std::size(kinds))];
            if (kind == Kind::exit && !chance.one_in(4)) continue;
            if (kind == Kind::exit) n = 1;
            if (kind == Kind::lock) {
                int const mutex = static_cast<int>(chance.below(mutexes));
                bool const mine = !held.empty() && held.back() == mutex;
                thread.push_back({mine ? Kind::unlock : Kind::lock, mutex, 0, 0, false});
                mine ? held.pop_back() : held.push_back(mutex);
                continue;
            }
            int const x = static_cast<int>(chance.below(static_cast<std::size_t>(used)));
            bool const sc = kind == Kind::fence || (kind <= Kind::bcas && chance.one_in(5));
            thread.push_back({kind, x, chance.below(3), chance.below(3), sc && kind != Kind::wait});
        }
        if (!thread.empty() && thread.back().kind == Kind::exit) continue;
        for (; !held.empty(); held.pop_back()) thread.push_back({Kind::unlock, held.back(), 0, 0, false});
    }
    return program;
}

// Programs of even seeds have none: some of them once failed.
Program with_choices(Program program, Chance& chance) {
    for (std::size_t n = 1 + chance.below(3); n > 0; --n) {
        auto& thread = program[chance.below(program.size())];
        auto const place = static_cast<std::ptrdiff_t>(chance.below(thread.size() + 1));
        thread.insert(thread.begin() + place, {Kind::choose, 0, 2 + chance.below(2), 0, false});
    }
    return program;
}

// Threads that the first one starts, and some of whose ends it waits for: all of them come to it.
Program with_starts(Chance& chance) {
    static constexpr Kind kinds[] = {Kind::load, Kind::load, Kind::store, Kind::store,
                                     Kind::add,  Kind::cas,  Kind::fence, Kind::choose};
    Program program(3 + chance.below(2));
    std::size_t left = 8;
    int const used = 1 + static_cast<int>(chance.below(locations));
    for (auto& thread : program) {
        for (std::size_t n = chance.below(4); n > 0 && left > 0; --n, --left) {
            Kind const kind = kinds[chance.below(std::size(kinds))];
            int const x = static_cast<int>(chance.below(static_cast<std::size_t>(used)));
            std::uint64_t const a = kind == Kind::choose ? 2 : chance.below(3);
            thread.push_back({kind, x, a, chance.below(3), kind != Kind::choose && chance.one_in(5)});
        }
    }
    auto& first = program[0];
    for (int thread = 1; thread < static_cast<int>(program.size()); ++thread) {
        bool const by_another = thread > 1 && chance.one_in(3);
        auto& by = program[by_another ? static_cast<std::size_t>(thread) - 1 : 0];
        std::size_t const place = chance.below(by.size() + 1);
        auto const put = [&](std::vector<Operation>& in, std::size_t at, Kind kind) {
            // A choice before it would leave it out.
            if (at > 0 && in[at - 1].kind == Kind::choose) --at;
            in.insert(in.begin() + static_cast<std::ptrdiff_t>(at), {kind, thread, 0, 0, false});
        };
        put(by, place, Kind::start);
        if (by_another || chance.one_in(2)) continue;
        std::size_t at = 0;
        while (first[at].kind != Kind::start || first[at].location != thread) ++at;
        put(first, at + 1 + chance.below(first.size() - at), Kind::join);
    }
    return program;
}

// Locks of which nobody knows whether they are free; and accesses of one location and of two, or waits.
Program with_sizes(Chance& chance) {
    static constexpr Kind kinds[] = {Kind::load, Kind::load, Kind::store, Kind::store, Kind::add,
                                     Kind::cas,  Kind::cas,  Kind::lock,  Kind::wait,  Kind::bcas};
    Program program(2 + chance.below(2));
    bool const waits = chance.one_in(3);
    std::size_t left = 7;
    for (auto& thread : program) {
        bool holds = false;
        for (std::size_t n = 1 + chance.below(3); n > 0 && left > 0; --n, --left) {
            Kind const kind = kinds[chance.below(std::size(kinds) - (waits ? 0 : 2))];
            if (kind == Kind::lock) {
                thread.push_back({holds ? Kind::unlock : kind, 0, 0, 0, false, 1, chance.one_in(2)});
                holds = !holds;
                continue;
            }
            bool const both = !waits && chance.one_in(2);
            auto const value = [&] { return chance.below(2) | (both ? chance.below(2) << 8 : 0); };
            auto const a = value(), b = value();
            int const x = both ? 0 : static_cast<int>(chance.below(2));
            thread.push_back({kind, x, a, b, false, static_cast<std::uint8_t>(both ? 2 : 1)});
        }
        if (holds) thread.push_back({Kind::unlock, 0, 0, 0, false});
    }
    return program;
}

// A call on two mutexes: what the second one was before it is not kept, so it cannot be told whether a lock
// of that could come before. The lock could come before another one all the same.
Program with_a_call_on_two() {
    return {{{Kind::lock, 0, 0, 0, false}, {Kind::lock, 1, 0, 0, false}, {Kind::unlock_all, 0, 0, 0, false}},
            {{Kind::lock, 1, 0, 0, false}, {Kind::unlock, 1, 0, 0, false}}};
}

void print(Program const& program) {
    for (auto const& thread : program) {
        for (auto const& o : thread)
            std::printf("%s%s%s %d %d %d; ", names[static_cast<int>(o.kind)], o.sc ? "(sc)" : "",
                        o.size == 2 ? "(2)" : "", o.location, static_cast<int>(o.a), static_cast<int>(o.b));
        std::printf("\n");
    }
}

constexpr std::uint64_t first_with_starts = 1'000'000'000, first_with_sizes = 2'000'000'000,
                        first_with_a_call_on_two = 3'000'000'000;
std::size_t total, vain;
std::size_t walks_at_once = 1;

bool agrees(Program const& program, ScFences how, Chance& chance, bool may_be_in_vain) {
    std::set<std::string> graphs;
    enumerate(Run(program), how, graphs);
    Counts counts;
    Exploration exploration(how);
    std::vector<std::unique_ptr<Walk>> walks(walks_at_once);
    for (auto& walk : walks) walk = std::make_unique<Walk>(exploration);
    // Each walk plans, and runs its execution some time later.
    std::vector<bool> planned(walks_at_once);
    while (counts.executions <= 4 * graphs.size() + 10 && counts.in_vain < 1000) {
        std::size_t const one = chance.below(walks_at_once);
        if (planned[one]) execute(program, how, *walks[one], chance, counts);
        planned[one] = !planned[one] && walks[one]->advance();
        if (exploration.is_complete()) break;
    }
    total += counts.executions;
    vain += counts.in_vain;
    std::set<std::string> const seen(counts.graphs.begin(), counts.graphs.end());
    if (seen == graphs && counts.executions == graphs.size() && (may_be_in_vain || counts.in_vain == 0))
        return true;
    std::printf("%zu graphs, %zu of them run, %zu executions, %zu in vain:\n", graphs.size(), seen.size(),
                counts.executions, counts.in_vain);
    print(program);
    return false;
}

}  // namespace

int main(int argc, char** argv) {
    std::uint64_t const programs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 3000;
    std::uint64_t const first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
    walks_at_once = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
    std::size_t wrong = 0;
    for (std::uint64_t seed = first; seed < first + programs; ++seed) {
        Chance chance(seed);
        Program const plain = seed >= first_with_a_call_on_two ? with_a_call_on_two()
                              : seed >= first_with_sizes       ? with_sizes(chance)
                              : seed >= first_with_starts      ? with_starts(chance)
                                                               : random_program(chance);
        ScFences const how = chance.one_in(2) ? ScFences::ordered : ScFences::commute;
        bool const is_ready = seed % 2 == 0 || seed >= first_with_starts;
        Program const program = is_ready ? plain : with_choices(plain, chance);
        if (agrees(program, how, chance, seed >= first_with_sizes)) continue;
        std::printf("  seed %llu, SC fences %s\n", static_cast<unsigned long long>(seed),
                    how == ScFences::ordered ? "ordered" : "commute");
        if (++wrong == 5) break;
    }
    std::printf("%zu executions, %zu in vain\n", total, vain);
    return wrong != 0;
}
