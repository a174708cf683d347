// Holds the rules, as they are kept by clocks over threads and by histories, against design.md, section 7,
// taken literally: location clocks that map every location to a write, and all writes kept. Random threads do
// random operations one after the other; before each, all checks must agree; in between, the collector runs.
//
//   rules SEED COUNT    runs COUNT programs; prints the first disagreement and exits with 1
//
// links: sanitizer/core/atomic_methods.cpp sanitizer/core/await.cpp sanitizer/core/collector.cpp
// links: sanitizer/core/history.cpp sanitizer/core/knowledge.cpp sanitizer/core/locations.cpp
// links: sanitizer/core/robustness.cpp sanitizer/core/sc_provenance.cpp sanitizer/core/shadow.cpp
// links: sanitizer/core/stacks.cpp sanitizer/core/threads.cpp sanitizer/system/lock.cpp
// links: sanitizer/system/memory.cpp sanitizer/system/modules.cpp sanitizer/system/options.cpp
// links: sanitizer/system/text.cpp
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
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

struct LiteralThread {
    LocationClock c, a, r, sc;
};
struct LiteralLocation {
    std::vector<Write> writes{Write{}};
    LocationClock w, wsc, msc;
};
struct LiteralObject {
    LocationClock c, sc;
};

struct Answers {
    bool load, write;
    std::vector<bool> wait, cas_success, cas;
    bool operator==(Answers const&) const = default;
};

struct Literal {
    std::vector<LiteralThread> threads;
    std::vector<LiteralLocation> locations;
    std::vector<LiteralObject> objects;
    LocationClock fence_w, fence_sc;

    Answers check(int t, int x, int values) const {
        auto const& writes = locations[x].writes;
        int const c = newest(threads[t].c, x), s = newest(threads[t].sc, x);
        Answers answers{c < s, writes[c].plain < writes[s].plain, {}, {}, {}};
        for (int v = 0; v < values; ++v) {
            bool wait = false, success = false, failure = false;
            for (int i = c; i < s; ++i) {
                wait = wait || writes[i].value == v;
                success = success || (writes[i].value == v && !writes[i + 1].rmw);
                failure = failure || writes[i].value != v;
            }
            answers.wait.push_back(wait);
            answers.cas_success.push_back(success);
            answers.cas.push_back(success || failure);
        }
        return answers;
    }
    void read(int t, int x, bool acquire) {
        auto& thread = threads[t];
        auto& location = locations[x];
        learn(thread.a, location.w);
        if (acquire) learn(thread.c, location.w);
        int const last = location.writes.back().index;
        learn(thread.a, x, last);
        learn(thread.c, x, last);
        LocationClock const old = thread.sc;
        learn(thread.sc, location.wsc);
        learn(location.msc, old);
    }
    void write(int t, int x, int value, bool release, bool rmw) {
        auto& thread = threads[t];
        auto& location = locations[x];
        auto const& before = location.writes.back();
        Write const n{before.index + 1, before.plain + (rmw ? 0 : 1), value, rmw};
        location.writes.push_back(n);
        LocationClock message = release ? thread.c : thread.r;
        if (rmw) learn(message, location.w);
        learn(message, x, n.index);
        learn(thread.c, x, n.index);
        learn(thread.a, x, n.index);
        location.w = message;
        learn(thread.sc, location.msc);
        learn(thread.sc, x, n.index);
        location.wsc = location.msc = thread.sc;
    }
    void modify(int t, int x, int value, bool acquire, bool release) {
        read(t, x, acquire);
        write(t, x, value, release, true);
    }
    void fence(int t, bool acquire, bool release) {
        if (acquire) threads[t].c = threads[t].a;
        if (release) threads[t].r = threads[t].c;
    }
    void sc_fence(int t) {
        auto& thread = threads[t];
        fence(t, true, false);
        learn(thread.a, fence_w);
        learn(thread.c, fence_w);
        fence_w = thread.c;
        learn(thread.sc, fence_sc);
        fence_sc = thread.sc;
        fence(t, false, true);
    }
};

constexpr int values = 4;

class Experiment {
  public:
    Experiment(std::uint64_t seed, std::uintptr_t base) : random_(seed), base_(base) {
        int const threads = 2 + below(below(8) == 0 ? 12 : 4), locations = 1 + below(4);
        literal_.threads.resize(static_cast<std::size_t>(threads));
        literal_.locations.resize(static_cast<std::size_t>(locations));
        literal_.objects.resize(2);
        Hook hook;
        for (int t = 0; t < threads; ++t) threads_.push_back(make_thread(hook.thread()));
    }
    ~Experiment() {
        Hook hook;
        for (Thread* t : threads_) join_thread(hook.thread(), t);
        forget_range(base_, 4096);
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
        }
        return true;
    }

  private:
    int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
    std::uintptr_t address(int x) const { return base_ + 8 * static_cast<std::uintptr_t>(x); }

    Answers check(Thread& t, Cell& x) {
        Violation v;
        Answers answers{check_load(t, x, v), check_write(t, x, v), {}, {}, {}};
        for (std::uint64_t value = 0; value < values; ++value) {
            answers.wait.push_back(check_wait(t, x, &value, 1, v));
            answers.cas_success.push_back(check_cas_success(t, x, value, v));
            answers.cas.push_back(check_cas(t, x, value, v));
        }
        return answers;
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
        learn(maker.c, ended.c);
        learn(maker.a, ended.c);
        learn(maker.sc, ended.sc);
        ended = {maker.c, maker.c, {}, maker.sc};
        Hook hook;
        join_thread(*threads_[parent], threads_[t]);
        threads_[t] = make_thread(*threads_[parent]);
    }

    bool step() {
        int const number = below(static_cast<int>(threads_.size()));
        Thread& t = *threads_[static_cast<std::size_t>(number)];
        int const kind = below(12);
        if (t.await.pc != 0 && below(3) == 0) return go_round(number, t);
        t.await.pc = 0;
        if (kind == 0) return fence(number, t);
        if (kind == 1) return object(number, t);
        int const x = below(static_cast<int>(literal_.locations.size()));
        Hook hook;
        LockedCell cell(hook.thread(), address(x), CellKind::atomic);
        if (cell.created()) cell->begin(0);
        if (check(t, *cell) != literal_.check(number, x, values)) {
            std::printf("thread %d, location %d: the checks disagree\n", number, x);
            return false;
        }
        bool const strong = below(2) == 0, stronger = below(2) == 0;
        int const value = below(values);
        Access const access = kind < 6 ? Access::load : kind < 10 ? Access::store : Access::rmw;
        AccessSite const site{0, 0, access, Order::relaxed};
        auto const bits = static_cast<std::uint64_t>(value);
        if (kind < 6) {
            if (!reads_known(t, *cell, site)) read_part(t, *cell, strong, site);
            literal_.read(number, x, strong);
            t.await = {1, static_cast<std::uintptr_t>(x), 0, 0, false, {}, {}};
        } else if (kind < 10) {
            if (!writes_over_known(t, *cell, bits, strong, site)) write_part(t, *cell, bits, strong, site);
            literal_.write(number, x, value, strong, false);
        } else {
            if (!writes_over_known(t, *cell, bits, stronger, site))
                rmw_parts(t, *cell, bits, strong, stronger, site);
            literal_.modify(number, x, value, strong, stronger);
        }
        return true;
    }

    // The thread repeats its last load, perhaps with another order.
    bool go_round(int number, Thread& t) {
        bool const strong = below(2) == 0;
        auto const x = static_cast<int>(t.await.address);
        Hook hook;
        bool const same = reads_same_again(t, address(x), LockedCell::glimpse(hook.thread(), address(x)),
                                           strong, [](std::uint64_t, std::size_t) { return true; });
        LockedCell cell(hook.thread(), address(x), CellKind::atomic);
        if (check(t, *cell) != literal_.check(number, x, values)) {
            std::printf("thread %d, location %d: the checks disagree before another round\n", number, x);
            return false;
        }
        AccessSite const site{0, 0, Access::load, Order::relaxed};
        if (!same) {
            if (!reads_known(t, *cell, site)) read_part(t, *cell, strong, site);
            note_read(t, *cell, strong);
        }
        literal_.read(number, x, strong);
        return true;
    }

    bool fence(int number, Thread& t) {
        switch (below(4)) {
            case 0:
                acquire_fence(t);
                literal_.fence(number, true, false);
                break;
            case 1:
                release_fence(t);
                literal_.fence(number, false, true);
                break;
            default:
                sc_fence(t, 0);
                literal_.sc_fence(number);
        }
        return true;
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
            learn(thread.c, object.c);
            learn(thread.a, object.c);
            learn(thread.sc, object.sc);
        } else {
            release_to(t, *cell);
            learn(object.c, thread.c);
            learn(object.sc, thread.sc);
        }
        return true;
    }

    std::mt19937_64 random_;
    std::uintptr_t base_;
    Literal literal_;
    std::vector<Thread*> threads_;
};

// Each program has threads and locations of its own, but clocks, slots and the fences' location go on.
void forget_fences() {
    __builtin_memset(fence_location.message, 0, fence_location.width * sizeof(Time));
    __builtin_memset(fence_location.sc, 0, fence_location.width * sizeof(Time));
    ++fence_location.version;
}

}  // namespace

int main(int, char** arguments) {
    auto const seed = std::strtoull(arguments[1], nullptr, 10);
    auto const count = std::strtoull(arguments[2], nullptr, 10);
    start_fences();
    start_threads();
    // The thread that runs all this takes no part, so it must not count among those who know little.
    current_thread().state = Thread::State::ended;
    for (std::uint64_t i = seed; i < seed + count; ++i) {
        forget_fences();
        if (!Experiment(i, 0x10000000).run()) {
            std::printf("program %llu\n", static_cast<unsigned long long>(i));
            return 1;
        }
    }
    std::printf("%llu programs agree\n", static_cast<unsigned long long>(count));
    return 0;
}
