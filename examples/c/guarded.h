/* What the locks of this folder guard: a counter. It is atomic and relaxed, so that the lock alone keeps it
 * in order and the sanitizer sees every access to it. */
#ifndef GUARDED_H
#define GUARDED_H

#include <stdatomic.h>

#include "threads.h"

static atomic_int counter;

static inline void count_one(void) {
    int before = atomic_load_explicit(&counter, memory_order_relaxed);
    atomic_store_explicit(&counter, before + 1, memory_order_relaxed);
}

/* Lets `threads` threads enter the lock, and counts. */
static inline int count_with(int threads) {
    run_threads(threads);
    check(atomic_load_explicit(&counter, memory_order_relaxed) == threads * ROUNDS, "no entry is lost");
    return 0;
}

#endif
