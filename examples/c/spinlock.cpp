// A test-and-test-and-set lock (Rudolph and Segall, Dynamic decentralized cache schemes for MIMD parallel
// processors, 1984) that std::lock_guard can use.
// expect: robust rc20=yes
// Why: spinlock.tpl, by the static engine.
#include <atomic>
#include <mutex>

#include "threads.hpp"

#ifndef UNLOCK
#define UNLOCK std::memory_order_release
#endif

namespace {

class spinlock {
  public:
    void lock() {
        while (held_.exchange(true, std::memory_order_acquire)) {
            while (held_.load(std::memory_order_relaxed)) std::this_thread::yield();
        }
    }
    void unlock() { held_.store(false, UNLOCK); }

  private:
    std::atomic<bool> held_{false};
};

constexpr int threads = THREADS;
spinlock guard;
std::atomic<int> counter;  // relaxed, so that the lock alone keeps it in order and the sanitizer sees it

}  // namespace

int main() {
    run_threads(threads, [](int) {
        for (int i = 0; i < ROUNDS; i++) {
            std::lock_guard<spinlock> inside(guard);
            counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        }
    });
    check(counter.load(std::memory_order_relaxed) == threads * ROUNDS, "no entry is lost");
}
