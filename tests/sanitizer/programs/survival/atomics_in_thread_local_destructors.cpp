// Atomics in thread-local destructors.
//
// prints: 248
#include "all.h"

std::atomic<int> destroyed;
struct Counting {
    int rounds = 0;
    ~Counting() { destroyed.fetch_add(1, std::memory_order_relaxed); }
};
thread_local Counting counting;
pthread_key_t key;
void again(void* round) {
    destroyed.fetch_add(10, std::memory_order_relaxed);
    if (round != reinterpret_cast<void*>(3)) pthread_setspecific(key, static_cast<char*>(round) + 1);
}
int main() {
    pthread_key_create(&key, again);
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([] {
            counting.rounds = 1;
            pthread_setspecific(key, reinterpret_cast<void*>(1));
        });
    for (auto& t : threads) t.join();
    std::printf("%d", destroyed.load());
}
