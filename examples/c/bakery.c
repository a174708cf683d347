// The bakery (Lamport, A new solution of Dijkstra's concurrent programming problem, 1974) for two threads:
// draw a number above all others, and wait for those with a smaller one.
// expect: robust rc20=yes
// Why: bakery.tpl, by the static engine.
#include <fencepost.h>
#include <sched.h>

#include "guarded.h"

#ifndef DRAW_FENCE
#define DRAW_FENCE() atomic_thread_fence(memory_order_seq_cst)
#endif
#ifndef STORE
#define STORE memory_order_relaxed
#define LAST_STORE memory_order_release
#define LOOK memory_order_relaxed
#define LOAD memory_order_acquire
#endif

static atomic_int choosing[2], number[2];

static void lock(int me) {
    int other = 1 - me;
    atomic_store_explicit(&choosing[me], 1, STORE);
    DRAW_FENCE();
    int mine = atomic_load_explicit(&number[other], LOOK) + 1;
    atomic_store_explicit(&number[me], mine, STORE);
    atomic_store_explicit(&choosing[me], 0, LAST_STORE);
    DRAW_FENCE();
    fp_wait(&choosing[other], 0, LOAD);
    for (;;) {
        int others = atomic_load_explicit(&number[other], LOAD);
        if (others == 0 || mine < others || (mine == others && me == 0)) return;
        sched_yield();
    }
}

static void unlock(int me) {
    atomic_store_explicit(&number[me], 0, memory_order_release);
}

static void thread_body(int me) {
    for (int i = 0; i < ROUNDS; i++) {
        lock(me);
        count_one();
        unlock(me);
    }
}

int main(void) {
    return count_with(2);
}
