// The work-stealing deque of Chase and Lev (2005) as Lê, Pop, Cohen and Zappella Nardelli wrote it in C11
// (Correct and efficient work-stealing for weak memory models, 2013): an owner pushes and takes at the
// bottom, two thieves steal at the top. Their seq_cst compare-and-swap is an acquire-release one here. The
// array is large enough for all items.
// expect: robust rc20=no
// Why: chase-lev.tpl, by the static engine. Right, but not robust: a thief's compare-and-swap can fail on an
// old `top`.
#include <sched.h>
#include <stdatomic.h>

#include "threads.h"

#ifndef BOTTOM_STORE
#define BOTTOM_STORE memory_order_relaxed
#define TOP_LOAD memory_order_relaxed
#define ITEM_LOAD memory_order_relaxed
#define PUSH_FENCE() ((void)0)
#define STEAL_FENCE() ((void)0)
#endif

#define THIEVES (THREADS - 1)

static atomic_long top, bottom;
static atomic_int items[ROUNDS];
static atomic_int taken;

static int claim(long index) {
    return atomic_compare_exchange_strong_explicit(&top, &index, index + 1, memory_order_acq_rel,
                                                   memory_order_acquire);
}

static void push(int item) {
    long b = atomic_load_explicit(&bottom, memory_order_relaxed);
    PUSH_FENCE();
    (void)atomic_load_explicit(&top, memory_order_acquire);  // the original looks whether there is room
    atomic_store_explicit(&items[b], item, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&bottom, b + 1, BOTTOM_STORE);
}

static int take(void) {
    long b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    atomic_store_explicit(&bottom, b, BOTTOM_STORE);
    atomic_thread_fence(memory_order_seq_cst);
    long t = atomic_load_explicit(&top, TOP_LOAD);
    int item = 0;
    if (t <= b) {
        item = atomic_load_explicit(&items[b], memory_order_relaxed);
        if (t < b) return item;
        if (!claim(t)) item = 0;
    }
    atomic_store_explicit(&bottom, b + 1, BOTTOM_STORE);
    return item;
}

static int steal(void) {
    long t = atomic_load_explicit(&top, memory_order_acquire);
    atomic_thread_fence(memory_order_seq_cst);
    long b = atomic_load_explicit(&bottom, memory_order_acquire);
    STEAL_FENCE();
    if (t >= b) return 0;
    int item = atomic_load_explicit(&items[t], ITEM_LOAD);
    return claim(t) ? item : 0;
}

static void thread_body(int number) {
    int found = 0;
    for (int i = 0; i < ROUNDS; i++) {
        if (number < THIEVES) {
            found += steal() != 0;
        } else {
            push(i + 1);
            if (i % 3 != 0) found += take() != 0;
        }
    }
    if (number == THIEVES) {
        while (take() != 0) found++;
    }
    atomic_fetch_add_explicit(&taken, found, memory_order_relaxed);
}

int main(void) {
    run_threads(THIEVES + 1);
    check(atomic_load_explicit(&taken, memory_order_relaxed) == ROUNDS, "each item is taken once");
    return 0;
}
