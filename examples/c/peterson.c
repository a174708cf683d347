// Peterson's mutual exclusion for two threads (Peterson, Myths about the mutual exclusion problem, 1981). A
// thread raises its flag, gives the turn away, and waits until the other's flag is down or the turn has come
// back.
// expect: robust rc20=yes
// Why: peterson.tpl, by the static engine. The loop waits for either of two things, so that no single load is
// the one to wait for; with the fences before it, and acquire loads, each round of it is in order.
#include <sched.h>

#include "guarded.h"

#ifndef FLAG_FENCE
#define FLAG_FENCE() atomic_thread_fence(memory_order_seq_cst)
#endif
#ifndef LAST_FENCE
#define LAST_FENCE() atomic_thread_fence(memory_order_seq_cst)
#define STORE memory_order_release
#define LOAD memory_order_acquire
#endif

static atomic_int flag[2], turn;

static void lock(int me) {
    int other = 1 - me;
    atomic_store_explicit(&flag[me], 1, STORE);
    FLAG_FENCE();
    atomic_store_explicit(&turn, other, STORE);
    LAST_FENCE();
    for (;;) {
        int raised = atomic_load_explicit(&flag[other], LOAD);
        int whose = atomic_load_explicit(&turn, LOAD);
        if (!raised || whose == me) return;
        sched_yield();
    }
}

static void unlock(int me) {
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
