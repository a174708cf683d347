// Dekker's mutual exclusion for two threads (Dijkstra, Cooperating sequential processes, 1965). A thread
// raises its flag and looks at the other's; `turn` says which steps back if both are up. The SC fences between
// raising a flag and looking at the other one are what C11 needs for this; the rest is release and acquire.
// expect: robust rc20=yes
// Why: dekker.tpl, by the static engine.
#include <fencepost.h>

#include "guarded.h"

#ifndef FLAG_FENCE
#define FLAG_FENCE() atomic_thread_fence(memory_order_seq_cst)
#endif
#ifndef RAISE
#define RAISE memory_order_release
#define LOOK memory_order_acquire
#define AGAIN memory_order_relaxed
#endif

static atomic_int flag[2], turn;

static void lock(int me) {
    int other = 1 - me;
    atomic_store_explicit(&flag[me], 1, RAISE);
    FLAG_FENCE();
    if (atomic_load_explicit(&flag[other], LOOK)) {
        if (atomic_load_explicit(&turn, memory_order_relaxed) != me) {
            atomic_store_explicit(&flag[me], 0, AGAIN);
            fp_wait(&turn, me, memory_order_acquire);
            atomic_store_explicit(&flag[me], 1, AGAIN);
            FLAG_FENCE();
        }
        // The turn is ours: the other one steps back, if it is not inside.
        fp_wait(&flag[other], 0, LOOK);
    }
}

static void unlock(int me) {
    atomic_store_explicit(&turn, 1 - me, memory_order_relaxed);
    atomic_store_explicit(&flag[me], 0, memory_order_release);
}

static void thread_body(int number) {
    for (int i = 0; i < ROUNDS; i++) {
        lock(number);
        count_one();
        unlock(number);
    }
}

int main(void) {
    return count_with(2);
}
