// An event counter (Reed and Kanodia, Synchronization with eventcounts and sequencers, 1979; for lock-free
// structures Vyukov, Eventcounts, 1024cores.net, 2008): a thread with nothing to do announces itself, looks
// once more, and sleeps until the epoch changes; a thread that makes something available changes the epoch
// if a thread is waiting. The announcement and the second look, and what is made available and the look for
// sleepers, must not change places: all is seq_cst.
// expect: robust rc20=yes
// Why: all atomic accesses are seq_cst, see ms-queue.cpp; the mutex orders what
// is done under it.
#include <atomic>
#include <condition_variable>
#include <mutex>

#include "threads.hpp"

#ifndef LOAD
#define LOAD std::memory_order_seq_cst
#define UPDATE std::memory_order_seq_cst
#endif

namespace {

class event_counter {
  public:
    unsigned prepare() {
        waiters_.fetch_add(1, UPDATE);
        return epoch_.load(LOAD);
    }
    void cancel() { waiters_.fetch_sub(1, UPDATE); }
    void wait(unsigned epoch) {
        {
            std::unique_lock<std::mutex> held(mutex_);
            changed_.wait(held, [&] { return epoch_.load(LOAD) != epoch; });
        }
        cancel();
    }
    void notify() {
        if (waiters_.load(LOAD) == 0) return;
        {
            std::lock_guard<std::mutex> held(mutex_);
            epoch_.fetch_add(1, UPDATE);
        }
        changed_.notify_all();
    }

  private:
    std::atomic<unsigned> waiters_{0}, epoch_{0};
    std::mutex mutex_;
    std::condition_variable changed_;
};

event_counter event;
std::atomic<int> items;

bool try_take() {
    int found = items.load(LOAD);
    while (found > 0) {
        if (items.compare_exchange_strong(found, found - 1, UPDATE, LOAD)) return true;
    }
    return false;
}

void take() {
    while (!try_take()) {
        unsigned epoch = event.prepare();
        if (try_take()) {
            event.cancel();
            return;
        }
        event.wait(epoch);
    }
}

void give() {
    items.fetch_add(1, UPDATE);
    event.notify();
}

}  // namespace

int main() {
    constexpr int givers = (THREADS + 1) / 2;
    run_threads(2 * givers, [](int number) {
        for (int i = 0; i < ROUNDS; i++) {
            if (number < givers)
                give();
            else
                take();
        }
    });
    check(items.load() == 0, "what was given was taken");
}
