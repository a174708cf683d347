// The bounded queue of Vyukov (Bounded MPMC queue, 1024cores.net, 2010): each cell has a number that says
// whose turn it is, producers and consumers claim positions by compare-and-swap.
// expect: robust rc20=no
// Why: mpmc-ring.tpl, by the static engine, for a ring of two cells. Right, but not robust: a thread
// that claims a position can look at an old one first.
#include <atomic>

#include "threads.hpp"

#ifndef CLAIM
#define CLAIM std::memory_order_relaxed
#define LOOK std::memory_order_relaxed
#define TURN_LOAD std::memory_order_acquire
#define TURN_STORE std::memory_order_release
#endif

namespace {

constexpr unsigned size = 4;

struct cell {
    std::atomic<unsigned> turn;
    int value;
};

class ring {
  public:
    ring() {
        for (unsigned i = 0; i < size; i++) cells_[i].turn.store(i, std::memory_order_relaxed);
    }

    bool push(int value) {
        unsigned position = enqueue_.load(LOOK);
        for (;;) {
            cell& place = cells_[position % size];
            int ahead = static_cast<int>(place.turn.load(TURN_LOAD) - position);
            if (ahead < 0) return false;
            if (ahead > 0) {
                position = enqueue_.load(LOOK);
            } else if (enqueue_.compare_exchange_strong(position, position + 1, CLAIM, LOOK)) {
                place.value = value;
                place.turn.store(position + 1, TURN_STORE);
                return true;
            }
        }
    }

    bool pop(int& value) {
        unsigned position = dequeue_.load(LOOK);
        for (;;) {
            cell& place = cells_[position % size];
            int ahead = static_cast<int>(place.turn.load(TURN_LOAD) - (position + 1));
            if (ahead < 0) return false;
            if (ahead > 0) {
                position = dequeue_.load(LOOK);
            } else if (dequeue_.compare_exchange_strong(position, position + 1, CLAIM, LOOK)) {
                value = place.value;
                place.turn.store(position + size, TURN_STORE);
                return true;
            }
        }
    }

  private:
    cell cells_[size];
    std::atomic<unsigned> enqueue_{0}, dequeue_{0};
};

constexpr int producers = (THREADS + 1) / 2, consumers = producers;
ring items;

}  // namespace

int main() {
    std::atomic<long> sum{0};
    run_threads(producers + consumers, [&sum](int number) {
        long found = 0;
        for (int i = 1; i <= ROUNDS; i++) {
            int value = i;
            while (number < producers ? !items.push(value) : !items.pop(value)) std::this_thread::yield();
            if (number >= producers) found += value;
        }
        sum.fetch_add(found, std::memory_order_relaxed);
    });
    check(sum.load() == long{producers} * ROUNDS * (ROUNDS + 1) / 2, "each item is popped once");
}
