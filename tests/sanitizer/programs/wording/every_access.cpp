// Store buffering in a fixed order, with each kind of access as the one that comes second. The last line of each
// pair is what is reported.
//
// reported: not robust: a load of `loaded` can miss a write that it follows
// reported: not robust: a load of `app::array+4` can miss a write that it follows
// reported: not robust: a load can miss a write that it follows
// reported: not robust: a store to `app::(anonymous namespace)::stored` can come before a write that it follows
// reported: not robust: a read-modify-write of `updated` can come before a write that it follows
// reported: not robust: a compare-and-exchange of `exchanged` can miss a write that it follows
// reported: not robust: a wait for `awaited` can miss a write that it follows
#include <fencepost.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>

using Atomic = std::atomic<int>;
constexpr auto relaxed = std::memory_order_relaxed;

namespace app {
Atomic array[2];
namespace {
Atomic stored;
}
}  // namespace app
static Atomic loaded, updated, exchanged, awaited;
Atomic* const in_heap = new Atomic;
Atomic others[7];
static int volatile turn;

static void wait_for(int t) {
    while (turn != t) usleep(100);
}

// What both threads do at one location, and then the first one at another.
static void write_and_look(Atomic& x, int pair) {
    x.store(1, relaxed);
    x.store(2, relaxed);
    others[pair].load(relaxed);
}

static void* first(void* unused) {
    pthread_setname_np(pthread_self(), "writer");
    Atomic* const locations[] = {&loaded, &app::array[1], in_heap, &app::stored, &updated, &exchanged, &awaited};
    for (int pair = 0; pair < 7; ++pair) {
        wait_for(2 * pair);
        write_and_look(*locations[pair], pair);
        turn = 2 * pair + 1;
    }
    wait_for(14);  // the last report names this thread
    return unused;
}

static void begin(int pair) {
    wait_for(2 * pair + 1);
    others[pair].store(1, relaxed);
}

static void end(int pair) {
    turn = 2 * pair + 2;
}

static void* second(void* unused) {
    begin(0);
    loaded.load(relaxed);
    end(0);
    begin(1);
    app::array[1].load(relaxed);
    end(1);
    begin(2);
    in_heap->load(relaxed);
    end(2);
    begin(3);
    app::stored.store(3, relaxed);
    end(3);
    begin(4);
    updated.fetch_add(1, relaxed);
    end(4);
    begin(5);
    int expected = 1;
    exchanged.compare_exchange_strong(expected, 3, relaxed);
    end(5);
    begin(6);
    fp_wait_any(&awaited, relaxed, 1, 2);
    end(6);
    return unused;
}

int main() {
    pthread_t a, b;
    pthread_create(&a, nullptr, first, nullptr);
    pthread_create(&b, nullptr, second, nullptr);
    pthread_join(a, nullptr);
    pthread_join(b, nullptr);
}
