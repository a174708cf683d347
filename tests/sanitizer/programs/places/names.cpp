// Store buffering at data of all kinds. Each is read by a thread that has just written to `other`.
//
// named: flags[1]
// named: grid[1][2]
// named: queue.head
// named: app::pools[1].slots[2].turn
// named: app::(anonymous namespace)::derived.count
// named: app::Counter::total
// named: run()::once
// named: app::start()::started
// named: plain
// named: either
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

using Atomic = std::atomic<int>;
constexpr auto relaxed = std::memory_order_relaxed;

static Atomic flags[2], grid[2][3], plain;
static struct {
    void *items;
    Atomic tail;
    Atomic head;
} queue;
static union {
    Atomic whole;
    std::uint64_t wide;
} either;

namespace app {
struct Slot {
    int number;
    std::atomic<int> turn;
};
struct Pool {
    char name[12];
    Slot slots[4];
} pools[2];
struct Base {
    std::int64_t id;
};
struct Counter : Base {
    Atomic count;
    static Atomic total;
};
Atomic Counter::total;
namespace {
Counter derived;
}
Atomic *start() {
    static Atomic started;
    return &started;
}
}  // namespace app

static Atomic *run() {
    static Atomic once;
    return &once;
}

static Atomic *const all[] = {&flags[1],           &grid[1][2],          &queue.head, &app::pools[1].slots[2].turn,
                              &app::derived.count, &app::Counter::total, run(),       app::start(),
                              &plain,              &either.whole};
static Atomic other;
static int volatile turn;

static void write_and_read(Atomic &written, Atomic &read) {
    written.store(1, relaxed);
    read.load(relaxed);
}

static void *first(void *unused) {
    for (Atomic *data : all) write_and_read(*data, other);
    turn = 1;
    return unused;
}

int main() {
    pthread_t thread;
    pthread_create(&thread, nullptr, first, nullptr);
    pthread_detach(thread);
    while (turn != 1) usleep(50);
    other.store(1, relaxed);
    flags[1].load(relaxed);
    grid[1][2].load(relaxed);
    queue.head.load(relaxed);
    app::pools[1].slots[2].turn.load(relaxed);
    app::derived.count.load(relaxed);
    app::Counter::total.load(relaxed);
    run()->load(relaxed);
    app::start()->load(relaxed);
    plain.load(relaxed);
    either.whole.load(relaxed);
    return 0;
}
