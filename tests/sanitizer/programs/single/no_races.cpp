// Threads used in all ways, one part for each argument: there is nothing to find.
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <semaphore.h>
#include <shared_mutex>
#include <thread>
#include <vector>
template <class... Body> void together(Body... body) {
    std::thread threads[] = {std::thread(body)...};
    for (auto& one : threads) one.join();
}
int data;
void join() { data = 1; together([] { data++; }); data++; }
void condition() {
    std::mutex mutex; std::condition_variable changed; bool ready = false;
    together([&] { { std::lock_guard held(mutex); ready = true; data = 1; } changed.notify_one(); },
             [&] { std::unique_lock held(mutex); changed.wait(held, [&] { return ready; }); data++; });
}
void readers() {
    std::shared_mutex mutex;
    together([&] { std::unique_lock held(mutex); data++; },
             [&] { std::shared_lock held(mutex); (void)data; },
             [&] { std::unique_lock held(mutex); data++; });
}
void semaphore() {
    sem_t ready; sem_init(&ready, 0, 0);
    together([&] { data = 1; sem_post(&ready); }, [&] { sem_wait(&ready); data++; });
}
void barrier() {
    std::barrier rounds(2);
    together([&] { data = 1; rounds.arrive_and_wait(); }, [&] { rounds.arrive_and_wait(); data++; });
}
void pthread_rounds() {
    pthread_barrier_t rounds; pthread_barrier_init(&rounds, nullptr, 2);
    together([&] { data = 1; pthread_barrier_wait(&rounds); },
             [&] { pthread_barrier_wait(&rounds); data++; });
}
struct Made { int value = 7; };
void once() {
    auto made = [] { static Made object; return object.value; };
    together(made, made, made);
}
thread_local std::vector<int> own;
std::atomic<int> last;
struct AtEnd { ~AtEnd() { last.fetch_add(1, std::memory_order_acq_rel); } };
void local() {
    auto body = [] { static thread_local AtEnd end; (void)&end; own.push_back(1); };
    for (int i = 0; i < 50; i++) together(body, body);
}
struct Counted { std::atomic<int> holders{2}; int value = 0; };
void references() {
    for (int i = 0; i < 200; i++) {
        auto* object = new Counted;
        auto let_go = [object] {
            if (object->holders.fetch_sub(1, std::memory_order_release) != 1) return;
            std::atomic_thread_fence(std::memory_order_acquire);
            object->value++;
            delete object;
        };
        together(let_go, let_go);
    }
}
std::atomic<int*> mailbox;
void heap() {
    together([] {
        for (int i = 1; i <= 500; i++) {
            while (mailbox.load(std::memory_order_relaxed)) std::this_thread::yield();
            std::atomic_thread_fence(std::memory_order_acquire);
            int* block = static_cast<int*>(malloc(64)); memset(block, i, 64);
            std::atomic_thread_fence(std::memory_order_release);
            mailbox.store(block, std::memory_order_relaxed);
        }
    }, [] {
        for (int i = 1; i <= 500; i++) {
            int* block;
            while (!(block = mailbox.load(std::memory_order_relaxed))) std::this_thread::yield();
            std::atomic_thread_fence(std::memory_order_acquire);
            free(block);
            std::atomic_thread_fence(std::memory_order_release);
            mailbox.store(nullptr, std::memory_order_relaxed);
        }
    });
}
struct Published { std::atomic<int> flag{1}; int value = 1; };
std::atomic<Published*> published;
void initialised() {  // the constructor writes the atomic without being one
    together([] { published.store(new Published, std::memory_order_release); }, [] {
        Published* seen;
        while (!(seen = published.load(std::memory_order_acquire))) std::this_thread::yield();
        seen->flag.fetch_add(1, std::memory_order_relaxed);
    });
    delete published.load();
}
// Locks and waits with a limit on a clock that does not jump, which ThreadSanitizer does not know.
auto soon() { return std::chrono::steady_clock::now() + std::chrono::minutes(1); }
timespec minute() { timespec t; clock_gettime(CLOCK_MONOTONIC, &t); t.tv_sec += 60; return t; }
void timed_mutex() {
    std::timed_mutex mutex;
    auto body = [&] {
        for (int i = 0; i < 100; i++)
            if (mutex.try_lock_until(soon())) { data++; mutex.unlock(); }
    };
    together(body, body);
}
void timed_readers() {
    std::shared_timed_mutex mutex;
    auto write = [&] { if (mutex.try_lock_until(soon())) { data++; mutex.unlock(); } };
    auto read = [&] { if (mutex.try_lock_shared_until(soon())) { (void)data; mutex.unlock_shared(); } };
    for (int i = 0; i < 50; i++) together(write, read, write);
}
void timed_condition() {
    std::mutex mutex; std::condition_variable changed; bool ready = false;
    together([&] { { std::lock_guard held(mutex); ready = true; data = 1; } changed.notify_one(); },
             [&] {
                 std::unique_lock held(mutex);
                 changed.wait_until(held, soon(), [&] { return ready; });
                 data++;
             });
}
void timed_semaphore() {
    sem_t ready; sem_init(&ready, 0, 0);
    together([&] { data = 1; sem_post(&ready); },
             [&] { auto t = minute(); sem_clockwait(&ready, CLOCK_MONOTONIC, &t); data++; });
}
void joins() {
    auto body = [](void* p) { data++; return p; };
    pthread_t thread;
    auto const limit = minute();
    pthread_create(&thread, nullptr, body, nullptr);
    if (pthread_clockjoin_np(thread, nullptr, CLOCK_MONOTONIC, &limit)) abort();
    data++;
    pthread_create(&thread, nullptr, body, nullptr);
    while (pthread_tryjoin_np(thread, nullptr)) std::this_thread::yield();
    data++;
    pthread_create(&thread, nullptr, body, nullptr);
    if (pthread_timedjoin_np(thread, nullptr, nullptr)) abort();
    data++;
}
int main(int, char** words) {
    struct { char const* name; void (*run)(); } const all[] = {
        {"join", join}, {"condition", condition}, {"readers", readers}, {"semaphore", semaphore},
        {"barrier", barrier}, {"pthread_rounds", pthread_rounds}, {"once", once}, {"local", local},
        {"references", references}, {"heap", heap}, {"initialised", initialised},
        {"timed_mutex", timed_mutex}, {"timed_readers", timed_readers}, {"timed_condition", timed_condition},
        {"timed_semaphore", timed_semaphore}, {"joins", joins}};
    for (auto& one : all) if (!strcmp(one.name, words[1])) { one.run(); return 5; }
    return 1;
}
