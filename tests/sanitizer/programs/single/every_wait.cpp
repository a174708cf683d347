// Every kind of waiting; prints in which order things happened.
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <latch>
#include <mutex>
#include <pthread.h>
#include <semaphore>
#include <semaphore.h>
#include <shared_mutex>
#include <thread>
#include <unistd.h>
#include <vector>
std::atomic<unsigned> place;
int order[4096];
void note(int what) { order[place.fetch_add(1)] = what; }
template <class Body> void on_threads(int count, Body body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; i++) threads.emplace_back(body, i);
    for (auto &thread : threads) thread.join();
}
int main() {
    std::mutex m;
    std::condition_variable filled;
    int items = 0;
    on_threads(6, [&](int i) {
        for (int k = 0; k < 5; k++) {
            std::unique_lock lock(m);
            if (i % 2) { items++; filled.notify_one(); }
            else { filled.wait(lock, [&] { return items > 0; }); items--; }
            note(i);
        }
    });
    std::shared_mutex shared;
    on_threads(4, [&](int i) {
        if (i % 2) { std::shared_lock lock(shared); note(10 + i); note(10 + i); }
        else { std::unique_lock lock(shared); note(10 + i); note(10 + i); }
    });
    std::once_flag once;
    int tries = 0;
    on_threads(4, [&](int i) {
        auto initialise = [&] { note(20 + i); if (++tries < 3) throw 1; };
        try { std::call_once(once, initialise); } catch (int) { note(30 + i); }
    });
    std::counting_semaphore<4> permits(0);
    std::latch all(4);
    std::barrier rounds(4);
    std::atomic<int> word{0};
    on_threads(4, [&](int i) {
        if (i == 0) permits.release(3); else permits.acquire();
        note(40 + i);
        all.arrive_and_wait();
        rounds.arrive_and_wait();
        note(50 + i);
        word.fetch_add(1);
        word.notify_all();
        for (int seen; (seen = word.load()) != 4;) word.wait(seen);
    });
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, nullptr, 3);
    sem_t semaphore;
    sem_init(&semaphore, 0, 1);
    pthread_spinlock_t spin;
    pthread_spin_init(&spin, 0);
    on_threads(3, [&](int i) {
        for (int k = 0; k < 3; k++) {
            if (pthread_barrier_wait(&barrier)) note(60 + i);
            sem_wait(&semaphore); note(70 + i); sem_post(&semaphore);
            pthread_spin_lock(&spin); note(80 + i); pthread_spin_unlock(&spin);
        }
    });
    on_threads(3, [&](int i) {
        static int const value = [] { note(90); note(91); return 5; }();
        std::this_thread::sleep_for(std::chrono::seconds(value * i));
        note(100 + i);
    });
    int ends[2];
    if (pipe(ends)) return 1;
    on_threads(2, [&](int i) {
        char byte = 0;
        for (int k = 0; k < 3; k++) {
            if (i) { note(110); if (write(ends[1], "abc" + k, 1) != 1) abort(); }
            else { if (read(ends[0], &byte, 1) != 1) abort(); note(byte); }
        }
    });
    auto answer = std::async(std::launch::async, [] { note(120); return 42; });
    std::promise<int> promise;
    std::thread giver([&] { promise.set_value(1); });
    if (promise.get_future().get() + answer.get() != 43) return 1;
    giver.join();
    for (unsigned i = 0; i < place; i++) std::printf("%d ", order[i]);
}
