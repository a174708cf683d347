// Holds the rules, as they are kept by clocks over threads and by histories, against design.md, section 7,
// and seq-cst.md, taken literally: location clocks that map every location to a write, and all writes kept.
// Random threads do random operations one after the other; before each, all checks must agree, whatever the
// order of the access would be; in between, the collector runs. Checks only see what SC knows more than C, P
// and F do. So now and then all threads are looked at as if SC knew everything; and at the end once more,
// each after an SC fence or a seq_cst access, which brings to light what E and the locations have.
//
// Each program has a habit: some have few SC fences and accesses, others hardly anything else. At the end
// come scripts, which do what random programs rarely do.
//
//   rules SEED COUNT    runs COUNT programs; prints the first disagreement and exits with 1
//
// links: sanitizer/core/atomic_methods.cpp sanitizer/core/await.cpp sanitizer/core/collector.cpp
// links: sanitizer/core/history.cpp sanitizer/core/knowledge.cpp sanitizer/core/locations.cpp
// links: sanitizer/core/robustness.cpp sanitizer/core/sc_clocks.cpp sanitizer/core/sc_provenance.cpp
// links: sanitizer/core/shadow.cpp sanitizer/core/stacks.cpp sanitizer/core/threads.cpp
// links: sanitizer/system/lock.cpp sanitizer/system/memory.cpp sanitizer/system/modules.cpp
// links: sanitizer/system/options.cpp sanitizer/system/text.cpp
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "sanitizer/core/locations.hpp"
#include "sanitizer/core/robustness.hpp"
#include "sanitizer/core/threads.hpp"
#include "sanitizer/system/options.hpp"

using namespace fencepost;

namespace {

struct Write {
    int index = 0;
    int plain = 0;
    int value = 0;
    bool rmw = false;
};

using LocationClock =
    std::map<int, int>;  // location -> index of its newest known write; none: the initial one

int newest(LocationClock const& clock, int x) {
    auto const found = clock.find(x);
    return found == clock.end() ? 0 : found->second;
}
void learn(LocationClock& clock, int x, int index) {
    if (index > newest(clock, x)) clock[x] = index;
}
void learn(LocationClock& clock, LocationClock const& other) {
    for (auto const& [x, index] : other) learn(clock, x, index);
}

// What travels with messages: C and, for S, P, F and E.
struct Message {
    LocationClock c, p, f, e;
};
void learn(Message& message, Message const& other) {
    learn(message.c, other.c);
    learn(message.p, other.p);
    learn(message.f, other.f);
    learn(message.e, other.e);
}

struct LiteralThread {
    Message now, pending, released;
    LocationClock sc;

    void acquire(Message const& message) {
        learn(now, message);
        learn(pending, message);
    }
};
struct LiteralLocation {
    std::vector<Write> writes{Write{}};
    Message w;
    LocationClock wsc, msc, kw, kr, kfw, kfr;
};
struct LiteralObject {
    Message message;
    LocationClock sc;
};

struct Answers {
    bool load, write;
    std::vector<bool> wait, cas_success, cas, mixed_cas;  // mixed: with the other order for failure
    bool operator==(Answers const&) const = default;
};

Order other_than(Order order) {
    return order == Order::seq_cst ? Order::relaxed : Order::seq_cst;
}

struct Literal {
    std::vector<LiteralThread> threads;
    std::vector<LiteralLocation> locations;
    std::vector<LiteralObject> objects;

    Answers check(int t, int x, Order order, int values, bool sc_knows_all = false) const {
        auto const& writes = locations[x].writes;
        auto const known = [&](Order of) {
            auto const& now = threads[t].now;
            int const c = std::max(newest(now.c, x), newest(now.f, x));
            return of == Order::seq_cst ? std::max(c, newest(now.p, x)) : c;
        };
        int const c = known(order), other_c = known(other_than(order));
        int const s = sc_knows_all ? writes.back().index : newest(threads[t].sc, x);
        Answers answers{c < s, writes[c].plain < writes[s].plain, {}, {}, {}, {}};
        for (int v = 0; v < values; ++v) {
            bool wait = false, success = false, failure = false, other_failure = false;
            for (int i = c; i < s; ++i) {
                wait = wait || writes[i].value == v;
                success = success || (writes[i].value == v && !writes[i + 1].rmw);
                failure = failure || writes[i].value != v;
            }
            answers.wait.push_back(wait);
            answers.cas_success.push_back(success);
            for (int i = other_c; i < s; ++i) other_failure = other_failure || writes[i].value != v;
            answers.cas.push_back(success || failure);
            answers.mixed_cas.push_back(success || other_failure);
        }
        return answers;
    }

    void access(int t, int x, Access access, Order order, int value) {
        auto& thread = threads[t];
        auto& location = locations[x];
        LocationClock const p_before = thread.now.p;
        if (reads(access)) read_message(thread, location, x, acquires(order));
        LocationClock in = location.kw;
        learn(in, location.kfw);
        if (writes(access)) {
            learn(in, location.kr);
            learn(in, location.kfr);
        }
        learn(thread.now.e, in);
        learn(thread.pending.e, in);
        if (writes(access)) add_write(thread, location, x, value, access != Access::store, order);
        LocationClock k;
        if (order == Order::seq_cst) {
            k = p_before;
            learn(k, in);
            learn(k, x, location.writes.back().index);
        }
        if (writes(access)) {
            learn(location.kw, location.kr);
            learn(location.kw, k);
            learn(location.kfw, location.kfr);
            learn(location.kfw, thread.now.f);
        } else {
            learn(location.kr, k);
            learn(location.kfr, thread.now.f);
        }
        learn(thread.now.p, k);
        learn(thread.pending.p, k);
    }

    void fence(int t, Order order) {
        auto& thread = threads[t];
        LocationClock k = thread.now.p;
        if (acquires(order)) thread.now = thread.pending;
        if (order == Order::seq_cst) {
            learn(k, thread.now.e);
            learn(k, thread.now.c);
            learn(thread.now.f, k);
            learn(thread.pending.f, k);
        }
        if (releases(order)) thread.released = thread.now;
        if (order != Order::seq_cst) return;
        learn(thread.now.p, k);
        learn(thread.pending.p, k);
    }

  private:
    static void read_message(LiteralThread& thread, LiteralLocation& location, int x, bool acquire) {
        learn(thread.pending, location.w);
        if (acquire) learn(thread.now, location.w);
        int const last = location.writes.back().index;
        learn(thread.pending.c, x, last);
        learn(thread.now.c, x, last);
        LocationClock const old = thread.sc;
        learn(thread.sc, location.wsc);
        learn(location.msc, old);
    }
    // The message has P without K of this access.
    static void add_write(LiteralThread& thread, LiteralLocation& location, int x, int value, bool rmw,
                          Order order) {
        auto const& before = location.writes.back();
        Write const n{before.index + 1, before.plain + (rmw ? 0 : 1), value, rmw};
        location.writes.push_back(n);
        Message message = releases(order) ? thread.now : thread.released;
        if (rmw) learn(message, location.w);
        learn(message.c, x, n.index);
        learn(thread.now.c, x, n.index);
        learn(thread.pending.c, x, n.index);
        location.w = message;
        learn(thread.sc, location.msc);
        learn(thread.sc, x, n.index);
        location.wsc = location.msc = thread.sc;
    }
};

constexpr int values = 4;

// Of twelve operations so many are fences, of twelve accesses so many seq_cst; the others have any order, or
// are relaxed in programs whose fences do all the work.
struct Habit {
    int fences, seq_cst;
    bool relaxed;
};
// From this seed on, one or two threads take no part in S, and so have none of its clocks for long.
constexpr std::uint64_t first_with_others = 10'000'000;
constexpr Habit habits[] = {{1, 2, false}, {1, 12, false}, {2, 6, false}, {4, 0, false},
                            {4, 2, true},  {5, 0, true},   {6, 4, false}, {3, 3, true}};

struct Step {
    int thread, location;  // or `fence`
    Access access;
    Order order;
};
constexpr int fence = -1;

class Experiment {
  public:
    Experiment(std::uint64_t seed, std::uintptr_t base)
        : random_(seed),
          base_(base),
          habit_(habits[below(std::size(habits))]),
          others_(seed < first_with_others ? 0 : 1 + static_cast<int>(seed % 2)) {
        int const threads = 2 + below(below(8) == 0 ? 12 : 4), locations = 1 + below(4);
        begin(threads, locations);
    }
    // To go by a script.
    Experiment(std::uintptr_t base, int threads, int locations) : base_(base), habit_(), others_(0) {
        begin(threads, locations);
    }
    ~Experiment() {
        Hook hook;
        for (Thread* t : threads_) join_thread(hook.thread(), t);
        forget_range(base_, 4096);
        forget_s(hook.thread());
    }

    bool run() {
        int const operations = 5 + below(120);
        for (int i = 0; i < operations; ++i) {
            if (!step()) {
                std::printf("operation %d of %d\n", i, operations);
                return false;
            }
            if (below(12) == 0) collect();
            if (below(6) == 0) look_what_all_know();
            if (below(40) == 0) replace_thread();
            if (below(8) == 0 && !all_know_the_same()) {
                std::printf("after operation %d of %d\n", i, operations);
                return false;
            }
        }
        return reveals_the_same() && forgets_everything() && records_keep_off_own_times();
    }

    // What a record is made of may have been another one.
    bool records_begin_without_fences() {
        Thread& t = *threads_[0];
        sc_fence(t);
        make_record(t);
        Record* const used = t.records.newest;
        used->add_own_fence(1);
        t.records = {nullptr, nullptr, used};
        used->next = nullptr;
        make_record(t);
        return t.records.newest == used && used->own_fence_before(2) == 0;
    }

    bool run(std::vector<Step> const& script) {
        for (Step const& step : script) {
            Thread& t = *threads_[static_cast<std::size_t>(step.thread)];
            if (step.location == fence)
                do_fence(step.thread, t, step.order);
            else if (!do_access(step.thread, t, step.location, step.access, step.order))
                return false;
            if (!all_know_the_same()) return false;
        }
        return true;
    }

  private:
    void begin(int threads, int locations) {
        literal_.threads.resize(static_cast<std::size_t>(threads));
        literal_.locations.resize(static_cast<std::size_t>(locations));
        literal_.objects.resize(2);
        Hook hook;
        for (int t = 0; t < threads; ++t) threads_.push_back(make_thread(hook.thread()));
    }

    // In the next program there have been no SC events either.
    static void forget_s(Thread& t) {
        ScClocks::release(t.sc_clocks);
        t.after_fence = t.after_eco = false;
        sc_events_made = {};
    }

    int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
    std::uintptr_t address(int x) const { return base_ + 8 * static_cast<std::uintptr_t>(x); }

    static Answers check(Thread& t, Cell& x, Order order) {
        Violation v;
        Answers answers{check_load(t, x, order, v), check_write(t, x, order, v), {}, {}, {}, {}};
        for (std::uint64_t value = 0; value < values; ++value) {
            answers.wait.push_back(check_wait(t, x, order, &value, 1, v));
            answers.cas_success.push_back(check_cas_success(t, x, order, value, v));
            answers.cas.push_back(check_cas(t, x, order, order, value, v));
            answers.mixed_cas.push_back(check_cas(t, x, order, other_than(order), value, v));
        }
        return answers;
    }
    bool checks_agree(int number, Thread& t, int x, Cell& cell, bool sc_knows_all = false) const {
        for (Order const order : {Order::relaxed, Order::seq_cst}) {
            if (check(t, cell, order) == literal_.check(number, x, order, values, sc_knows_all)) continue;
            std::printf("thread %d, location %d: the checks of order %d disagree\n", number, x,
                        static_cast<int>(order));
            return false;
        }
        return true;
    }
    Order some_order(int number) {
        bool const in_s = below(12) < habit_.seq_cst;
        if (number < others_) return in_s ? Order::relaxed : static_cast<Order>(below(5));
        if (in_s) return Order::seq_cst;
        return habit_.relaxed ? Order::relaxed : static_cast<Order>(below(5));
    }

    // Is what threads must not go behind the same, in all locations?
    bool all_know_the_same() {
        for (std::size_t t = 0; t < threads_.size(); ++t)
            if (!knows_the_same(static_cast<int>(t))) return false;
        return true;
    }
    bool knows_the_same(int number) {
        Thread& t = *threads_[static_cast<std::size_t>(number)];
        std::vector<Time> const sc(t.sc, t.sc + clock_width);
        std::fill(t.sc, t.sc + clock_width, INT32_MAX);
        bool same = true;
        for (int x = 0; same && x < static_cast<int>(literal_.locations.size()); ++x) {
            Hook hook;
            LockedCell cell(hook.thread(), address(x), CellKind::atomic);
            if (cell.created()) cell->begin(0);
            same = checks_agree(number, t, x, *cell, true);
        }
        std::copy(sc.begin(), sc.end(), t.sc);
        return same;
    }
    bool reveals_the_same() {
        for (int t = 0; t < static_cast<int>(threads_.size()); ++t) {
            if (below(2) == 0) {
                do_fence(t, *threads_[static_cast<std::size_t>(t)], Order::seq_cst);
            } else {
                int const x = below(static_cast<int>(literal_.locations.size()));
                Access const access = below(2) == 0 ? Access::load : Access::store;
                if (!do_access(t, *threads_[static_cast<std::size_t>(t)], x, access, Order::seq_cst))
                    return false;
            }
            if (knows_the_same(t)) continue;
            std::printf("at the end\n");
            return false;
        }
        return true;
    }

    // A location whose memory others have written begins anew: everybody knows what it holds.
    bool forgets_everything() {
        for (int x = 0; x < static_cast<int>(literal_.locations.size()); ++x) {
            Hook hook;
            LockedCell cell(hook.thread(), address(x), CellKind::atomic);
            if (cell.created()) cell->begin(0);
            cell->begin_again(1);
            for (Thread* t : threads_) {
                Answers const nothing{false,
                                      false,
                                      std::vector<bool>(values),
                                      std::vector<bool>(values),
                                      std::vector<bool>(values),
                                      std::vector<bool>(values)};
                if (check(*t, *cell, Order::relaxed) == nothing && cell->last() == 0) continue;
                std::printf("location %d does not begin anew\n", x);
                return false;
            }
        }
        return true;
    }
    // Of its own thread a record says nothing: whoever joins it sets that time last of all.
    bool records_keep_off_own_times() {
        for (Thread* t : threads_) {
            for (Record* record = t->records.oldest; record != nullptr; record = record->next) {
                if (record->current()[t->slot] == 0 && record->sc()[t->slot] == 0) continue;
                std::printf("a record says what its own thread knows of itself\n");
                return false;
            }
        }
        return true;
    }

    void look_what_all_know() {
        Locked held(threads_lock);
        find_known_to_all();
    }

    // A thread ends, is joined by another, and a new one takes its place, made by that one.
    void replace_thread() {
        int const t = below(static_cast<int>(threads_.size())),
                  parent = below(static_cast<int>(threads_.size()));
        if (t == parent) return;
        auto& ended = literal_.threads[t];
        auto& maker = literal_.threads[parent];
        maker.acquire(ended.now);
        learn(maker.sc, ended.sc);
        ended = {maker.now, maker.now, {}, maker.sc};
        Hook hook;
        join_thread(*threads_[parent], threads_[t]);
        threads_[t] = make_thread(*threads_[parent]);
    }

    bool step() {
        int const number = below(static_cast<int>(threads_.size()));
        Thread& t = *threads_[static_cast<std::size_t>(number)];
        if (t.await.pc != 0 && below(3) == 0) return go_round(number, t);
        t.await.pc = 0;
        if (below(12) < habit_.fences) {
            Order const order = below(3) != 0 ? Order::seq_cst : static_cast<Order>(below(6));
            do_fence(number, t, number < others_ && order == Order::seq_cst ? Order::release : order);
            return true;
        }
        int const kind = below(11);
        if (kind == 0) return object(number, t);
        Access const access = kind < 6 ? Access::load : kind < 9 ? Access::store : Access::rmw;
        int const x = below(static_cast<int>(literal_.locations.size()));
        return do_access(number, t, x, access, some_order(number));
    }

    bool do_access(int number, Thread& t, int x, Access access, Order order) {
        Hook hook;
        LockedCell cell(hook.thread(), address(x), CellKind::atomic);
        if (cell.created()) cell->begin(0);
        if (!checks_agree(number, t, x, *cell)) return false;
        int const value = below(values);
        AccessSite const site{0, 0, access, order};
        auto const bits = static_cast<std::uint64_t>(value);
        if (access == Access::load) {
            if (!reads_known(t, *cell, site)) read_part(t, *cell, acquires(order), site);
            t.await = {
                static_cast<std::uintptr_t>(order) + 1, static_cast<std::uintptr_t>(x), 0, 0, false, {}, {}};
        } else if (!writes_over_known(t, *cell, bits, releases(order), site)) {
            if (access == Access::store)
                write_part(t, *cell, bits, releases(order), site);
            else
                rmw_parts(t, *cell, bits, acquires(order), releases(order), site);
        }
        literal_.access(number, x, access, order, value);
        return true;
    }

    // The thread repeats its last load.
    bool go_round(int number, Thread& t) {
        auto const order = static_cast<Order>(t.await.pc - 1);
        auto const x = static_cast<int>(t.await.address);
        Hook hook;
        bool const same = reads_same_again(t, address(x), LockedCell::glimpse(hook.thread(), address(x)),
                                           order, [](std::uint64_t, std::size_t) { return true; });
        LockedCell cell(hook.thread(), address(x), CellKind::atomic);
        if (!checks_agree(number, t, x, *cell)) return false;
        AccessSite const site{0, 0, Access::load, order};
        if (!same) {
            if (!reads_known(t, *cell, site)) read_part(t, *cell, acquires(order), site);
            note_read(t, *cell, acquires(order));
        }
        literal_.access(number, x, Access::load, order, 0);
        return true;
    }

    void do_fence(int number, Thread& t, Order order) {
        if (order == Order::seq_cst) {
            sc_fence(t);
        } else {
            if (acquires(order)) acquire_fence(t);
            if (releases(order)) release_fence(t);
        }
        literal_.fence(number, order);
    }

    bool object(int number, Thread& t) {
        int const o = below(2);
        auto& object = literal_.objects[static_cast<std::size_t>(o)];
        auto& thread = literal_.threads[static_cast<std::size_t>(number)];
        Hook hook;
        LockedCell cell(hook.thread(), base_ + 1024 + 8 * static_cast<std::uintptr_t>(o),
                        CellKind::synchronisation);
        if (below(2) == 0) {
            acquire_from(t, *cell);
            thread.acquire(object.message);
            learn(thread.sc, object.sc);
        } else {
            release_to(t, *cell);
            learn(object.message, thread.now);
            learn(object.sc, thread.sc);
        }
        return true;
    }

    std::mt19937_64 random_;
    std::uintptr_t base_;
    Habit habit_;
    int others_;  // that take no part in S
    Literal literal_;
    std::vector<Thread*> threads_;
};

}  // namespace

namespace {

// What is kept of writes that were dropped, against a plain list of them.
bool gaps_agree(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    auto const below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    auto const made = [&](std::vector<std::pair<std::uint64_t, bool>>& plain) {
        Gap* gap = Gap::make(false);
        int const different = 1 + below(24);
        for (int n = below(30); n > 0; --n) {
            std::uint64_t const value = static_cast<std::uint64_t>(below(different));
            plain.emplace_back(value, below(8) == 0);
            gap = gap->with(value, plain.back().second);
        }
        return gap;
    };
    std::vector<std::pair<std::uint64_t, bool>> plain;
    Gap* const first = made(plain);
    Gap* const second = made(plain);
    Gap* const both = first->with_all_of(*second);
    Gap::release(second);
    std::map<std::uint64_t, bool> expected, found;
    bool any_free = false;
    for (auto const& [value, free] : plain) {
        expected[value] = expected[value] || free;
        any_free = any_free || free;
    }
    both->any([&](std::uint64_t value, bool free) { return found[value] = free, false; });
    bool const same = both->any_free() == any_free && (found.empty() || found == expected) &&
                      (expected.size() > 16 || found == expected);
    Gap::release(both);
    if (!same) std::printf("a gap does not keep what was added to it\n");
    return same;
}

// Thread 0 writes x twice. In between thread 1, which has learnt the first write by y, reads it after a fence
// that knows its write to z: so the second write is after that fence, and who reads it, thread 2, too.
bool a_read_after_a_fence_is_news_to_the_next_write() {
    constexpr int x = 0, y = 1, z = 2;
    constexpr auto relaxed = Order::relaxed, seq_cst = Order::seq_cst;
    return Experiment(0x10000000, 3, 3)
        .run({{0, fence, {}, seq_cst},
              {0, x, Access::store, relaxed},
              {0, y, Access::store, Order::release},
              {1, z, Access::store, relaxed},
              {1, y, Access::load, Order::acquire},
              {1, fence, {}, seq_cst},
              {1, x, Access::load, relaxed},
              {0, x, Access::store, relaxed},
              {2, x, Access::load, relaxed},
              {2, fence, {}, seq_cst}});
}

}  // namespace

int main(int, char** arguments) {
    auto const seed = std::strtoull(arguments[1], nullptr, 10);
    auto const count = std::strtoull(arguments[2], nullptr, 10);
    start_threads();
    // The thread that runs all this takes no part, so it must not count among those who know little.
    current_thread().state = Thread::State::ended;
    for (std::uint64_t i = seed; i < seed + count; ++i) {
        if (!gaps_agree(i) || !Experiment(i, 0x10000000).run()) {
            std::printf("program %llu\n", static_cast<unsigned long long>(i));
            return 1;
        }
    }
    if (!a_read_after_a_fence_is_news_to_the_next_write() ||
        !Experiment(0x10000000, 1, 1).records_begin_without_fences()) {
        std::printf("in a script\n");
        return 1;
    }
    std::printf("%llu programs agree\n", static_cast<unsigned long long>(count));
    return 0;
}
