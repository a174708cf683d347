// Double-checked initialisation (Schmidt and Harrison, Double-checked locking, 1997; in C++11 Meyers and
// Alexandrescu's objections of 2004 are met by acquire and release): a flag is looked at without the mutex,
// and again with it.
// expect: robust rc20=yes
// Why: once.tpl, by the static engine.
#include <atomic>
#include <memory>
#include <mutex>

#include "threads.hpp"

#ifndef PUBLISH
#define PUBLISH std::memory_order_release
#endif

namespace {

// What is initialised is a relaxed atomic, so that the flag alone keeps it in order and the sanitizer sees
// it.
class lazy {
  public:
    int get() {
        if (!ready_.load(std::memory_order_acquire)) {
            std::lock_guard<std::mutex> held(mutex_);
            if (!ready_.load(std::memory_order_relaxed)) {
                value_.store(42, std::memory_order_relaxed);
                ready_.store(true, PUBLISH);
            }
        }
        return value_.load(std::memory_order_relaxed);
    }

  private:
    std::atomic<bool> ready_{false};
    std::atomic<int> value_{0};
    std::mutex mutex_;
};

}  // namespace

int main() {
    std::unique_ptr<lazy[]> values(new lazy[ROUNDS]);
    run_threads(THREADS, [&](int) {
        for (int i = 0; i < ROUNDS; i++) check(values[i].get() == 42, "who finds the flag finds the value");
    });
}
