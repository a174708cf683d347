// C++20: an atomic_flag that a thread waits for, and one that notifies it. Release and acquire are there.
// atomics: nothing seen
// races: nothing seen
// flags: -std=c++20
#include <atomic>
#include <cstdio>
#include <thread>

static std::atomic_flag ready = ATOMIC_FLAG_INIT;
static int payload;

int main() {
    std::thread writer([] {
        payload = 42;
        ready.test_and_set(std::memory_order_release);
        ready.notify_one();
    });
    ready.wait(false, std::memory_order_acquire);
    std::printf("%d\n", payload);
    writer.join();
}
