// Hazard pointers (Michael, Hazard pointers: safe memory reclamation for lock-free objects, 2004): a reader
// announces the node it is about to use and looks whether it is still there; a writer that took a node out
// waits until nobody announces it, and reuses it. Nodes are relaxed atomics, so that one that is reused too
// early shows.
// expect: robust rc20=yes
// Why: hazard-pointers.tpl, by the static engine, with one reader and with two.
#include <fencepost.h>

#include <atomic>

#include "threads.hpp"

#ifndef ANNOUNCE_FENCE
#define ANNOUNCE_FENCE() std::atomic_thread_fence(std::memory_order_seq_cst)
#endif
#ifndef STORE
#define STORE std::memory_order_release
#define LOAD std::memory_order_acquire
#endif

namespace {

constexpr int readers = THREADS - 1, nodes = 3, none = 3;

std::atomic<int> current{0};
std::atomic<int> hazards[2] = {none, none};
std::atomic<int> alive[nodes] = {1, 0, 0};

void read(int number) {
    int node = current.load(std::memory_order_acquire);
    for (;;) {
        hazards[number].store(node, STORE);
        ANNOUNCE_FENCE();
        int again = current.load(LOAD);
        if (again == node) break;
        node = again;
    }
    check(alive[node].load(std::memory_order_relaxed), "no node is reused while it is in use");
    hazards[number].store(none, std::memory_order_release);
}

void write(int round) {
    int old = round % nodes, fresh = (round + 1) % nodes;
    alive[fresh].store(1, std::memory_order_relaxed);
    current.store(fresh, STORE);
    ANNOUNCE_FENCE();
    for (std::atomic<int>& hazard : hazards)
        fp_wait_any(&hazard, LOAD, fresh, (round + 2) % nodes, none);
    alive[old].store(0, std::memory_order_relaxed);
}

}  // namespace

int main() {
    run_threads(readers + 1, [](int number) {
        for (int i = 0; i < ROUNDS; i++) {
            if (number < readers)
                read(number);
            else
                write(i);
        }
    });
}
