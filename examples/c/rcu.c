// Read-copy-update by quiescent states (Desnoyers, McKenney, Stern, Dagenais and Walpole, User-level
// implementations of read-copy update, 2012): a writer publishes a new version and reuses the old one after
// every reader has said that it holds none. Versions are relaxed atomics, so that one that is reused too
// early shows.
// expect: robust rc20=yes
// Why: rcu.tpl, by the static engine.
#include <fencepost.h>
#include <sched.h>
#include <stdatomic.h>

#include "threads.h"

#ifndef PUBLISH
#define PUBLISH memory_order_release
#endif

// How often a reader reads. 0: until the writer is ready, which may take any number of times.
#ifndef READS
#define READS 0
#endif

#define READERS (THREADS - 1)

static atomic_int current, period, seen[READERS];
static atomic_int versions[2] = {1, 1};

static void writer(void) {
    int old = 0;
    for (int i = 1; i <= ROUNDS; i++) {
        atomic_store_explicit(&versions[1 - old], 1, memory_order_relaxed);
        atomic_store_explicit(&current, 1 - old, PUBLISH);
        // A grace period: until every reader has been in a quiescent state since.
        atomic_store_explicit(&period, i, PUBLISH);
        for (int reader = 0; reader < READERS; reader++) fp_wait(&seen[reader], i, memory_order_acquire);
        atomic_store_explicit(&versions[old], 0, memory_order_relaxed);
        old = 1 - old;
    }
}

static void reader(int number) {
    int reached = 0;
    for (int reads = 0; reached < ROUNDS && (READS == 0 || reads < READS); reads++) {
        int version = atomic_load_explicit(&current, memory_order_acquire);
        check(atomic_load_explicit(&versions[version], memory_order_relaxed),
              "no version is reused too early");
        // A quiescent state: this thread holds no version.
        reached = atomic_load_explicit(&period, memory_order_acquire);
        atomic_store_explicit(&seen[number], reached, memory_order_release);
        sched_yield();
    }
    // It has read enough, and only tells the writer so.
    while (reached < ROUNDS) {
        fp_wait(&period, ++reached, memory_order_acquire);
        atomic_store_explicit(&seen[number], reached, memory_order_release);
    }
}

static void thread_body(int number) {
    if (number == READERS)
        writer();
    else
        reader(number);
}

int main(void) {
    run_threads(READERS + 1);
    return 0;
}
