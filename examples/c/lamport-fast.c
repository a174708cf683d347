// Lamport's fast mutual exclusion (A fast mutual exclusion algorithm, 1987, Algorithm 2): a thread
// that meets no other enters after a few steps.
// expect: robust rc20=yes
// Why: lamport-fast.tpl, by the static engine, for two threads.
#ifndef THREADS
#define THREADS 2
#endif

#include <fencepost.h>

#include "guarded.h"

// 0 is nobody; threads count from 1.
static atomic_int x, y, busy[THREADS + 1];

static void sc_fence(void) {
    atomic_thread_fence(memory_order_seq_cst);
}

static void lock(int me) {
    for (;;) {
        atomic_store_explicit(&busy[me], 1, memory_order_release);
        sc_fence();
        atomic_store_explicit(&x, me, memory_order_release);
        sc_fence();
        if (atomic_load_explicit(&y, memory_order_acquire) != 0) {
            // Somebody is past the gate y: step back until it is open.
            atomic_store_explicit(&busy[me], 0, memory_order_release);
            fp_wait(&y, 0, memory_order_acquire);
            continue;
        }
        atomic_store_explicit(&y, me, memory_order_release);
        sc_fence();
        if (atomic_load_explicit(&x, memory_order_acquire) == me) return;
        // Let all others who may still write y do so; the last one to write it goes on.
        atomic_store_explicit(&busy[me], 0, memory_order_release);
        for (int other = 1; other <= THREADS; other++) {
            if (other != me) fp_wait(&busy[other], 0, memory_order_acquire);
        }
        if (atomic_load_explicit(&y, memory_order_acquire) == me) return;
        fp_wait(&y, 0, memory_order_acquire);
    }
}

static void unlock(int me) {
    atomic_store_explicit(&y, 0, memory_order_release);
    atomic_store_explicit(&busy[me], 0, memory_order_release);
}

static void thread_body(int number) {
    for (int i = 0; i < ROUNDS; i++) {
        lock(number + 1);
        count_one();
        unlock(number + 1);
    }
}

int main(void) {
    return count_with(THREADS);
}
